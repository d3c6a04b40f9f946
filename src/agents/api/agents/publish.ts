import type { Queryable } from '../../../platform/db/db.ts';
import type { AgentCreate, AgentPatch, AgentReplace, RateLimits } from '../../contract/agents.ts';
import { DEFAULT_RATE_LIMITS } from '../../contract/agents.ts';
import { errors } from '../../../platform/errors.ts';
import { insertAgent, publishVersion } from '../../store/agents.ts';
import type { StoredAgent } from '../../store/agents.ts';
import { findVersion } from '../../store/versions.ts';
import type { VersionContent } from '../../store/versions.ts';
import type { ApiDeps } from '../deps.ts';
import { buildContent, isModelName, listDanglingToolsets, mergeContent } from './content.ts';
import { getActiveAgent, getAgent } from './find.ts';

type Supplied = Pick<AgentPatch, 'modelName' | 'tools' | 'roles'>;

function checkModelName({ modelName }: Supplied, models: ApiDeps['models']): void {
  if (modelName === undefined || isModelName(modelName, models)) return;
  throw errors.validation('modelName: must be <provider>/<model> or a configured model name');
}

function checkToolsets(supplied: Supplied, content: VersionContent): void {
  const paths = listDanglingToolsets(supplied, content.mcpServers);
  if (paths.length === 0) return;
  const entries = paths.slice(0, 10).map((path) => `${path}: must be the name of an mcpServers entry`);
  throw errors.validation(entries.join('; '));
}

/** What the body leaves out stays undefined, so that a spread of it overwrites nothing. */
function mergeLimits(base: RateLimits, supplied: AgentCreate['rateLimits']): RateLimits {
  return {
    conversationsPerMinute: supplied?.conversationsPerMinute ?? base.conversationsPerMinute,
    messagesPerMinute: supplied?.messagesPerMinute ?? base.messagesPerMinute,
  };
}

export async function createAgent(deps: ApiDeps, organizationId: string, body: AgentCreate): Promise<StoredAgent> {
  const content = buildContent(body);
  checkModelName(body, deps.models);
  checkToolsets(body, content);
  const rateLimits = mergeLimits(DEFAULT_RATE_LIMITS, body.rateLimits);
  return deps.db.transaction(async (tx) => {
    const id = await insertAgent(tx, { organizationId, name: body.name, rateLimits, content });
    return getAgent(tx, organizationId, id);
  });
}

type Change = { name: string; rateLimits: RateLimits; content: VersionContent };

/** Computes the next version from the one read, and publishes it unless another has come between. */
async function publish(
  deps: ApiDeps,
  { organizationId, id }: { organizationId: string; id: string },
  body: Supplied & { expectedVersion?: number | undefined },
  build: (agent: StoredAgent) => Promise<Change>,
): Promise<StoredAgent> {
  checkModelName(body, deps.models);
  const agent = await getActiveAgent(deps.db, organizationId, id);
  if (body.expectedVersion !== undefined && body.expectedVersion !== agent.latestVersion) {
    throw errors.conflict('The agent is no longer at expectedVersion.');
  }
  const change = await build(agent);
  checkToolsets(body, change.content);
  return deps.db.transaction(async (tx: Queryable) => {
    const published = await publishVersion(tx, { id, base: agent.latestVersion, ...change });
    if (published) return getAgent(tx, organizationId, id);
    await getActiveAgent(tx, organizationId, id);
    throw errors.conflict('The agent was updated at the same time.');
  });
}

/** Full replacement; rate limits that the body leaves out stay. */
export function replaceAgent(
  deps: ApiDeps,
  organizationId: string,
  id: string,
  body: AgentReplace,
): Promise<StoredAgent> {
  return publish(deps, { organizationId, id }, body, async (agent) => ({
    name: body.name,
    rateLimits: mergeLimits(agent.rateLimits, body.rateLimits),
    content: buildContent(body),
  }));
}

/** Partial update; collections are merged by identity. */
export function patchAgent(deps: ApiDeps, organizationId: string, id: string, body: AgentPatch): Promise<StoredAgent> {
  return publish(deps, { organizationId, id }, body, async (agent) => {
    const stored = await findVersion(deps.db, agent.id, agent.latestVersion);
    if (stored === undefined) throw errors.notFound('agent');
    return { name: body.name ?? agent.name, rateLimits: agent.rateLimits, content: mergeContent(stored, body) };
  });
}
