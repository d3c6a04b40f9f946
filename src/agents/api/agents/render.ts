import type { Agent, AgentVersion, AgentVersionFull } from '../../contract/agents.ts';
import type { StoredAgent } from '../../store/agents.ts';
import type { ApiPorts } from '../deps.ts';
import type { VersionSummary } from '../../store/versions.ts';

export function buildVersion(version: VersionSummary): AgentVersion {
  return {
    id: version.id,
    version: version.version,
    modelName: version.modelName,
    systemPrompt: version.systemPrompt,
    skills: version.skills,
    roles: version.roles,
    mcpServers: version.mcpServers,
    environment: version.environment ?? { sandboxClass: null },
    reasoning: version.reasoning,
    metadata: version.metadata,
    createdAt: version.createdAt.toISOString(),
  };
}

export function buildVersionFull(version: VersionSummary): AgentVersionFull {
  return { object: 'agent.version', ...buildVersion(version), tools: version.tools };
}

/** The response to a change, with warnings about settings that do not work yet. */
export function buildChangedAgent(agent: StoredAgent, models: ApiPorts['models'], organizationId: string): Agent {
  const message = models.explainMissing?.(agent.version.modelName, organizationId);
  return { ...buildAgent(agent), ...(message === undefined ? {} : { warnings: [{ field: 'modelName', message }] }) };
}

export function buildAgent(agent: StoredAgent): Agent {
  return {
    object: 'agent',
    id: agent.id,
    name: agent.name,
    status: agent.status,
    metadata: agent.version.metadata,
    rateLimits: agent.rateLimits,
    productionVersion: agent.productionVersion,
    version: buildVersion(agent.version),
    tools: agent.version.tools,
    createdAt: agent.createdAt.toISOString(),
    updatedAt: agent.updatedAt.toISOString(),
  };
}
