import { Option } from 'commander';
import type { Command } from 'commander';
import type { Agent, ToolConfig } from '../../clients/typescript/index.ts';
import { AgentCreate, AgentPatch } from '../agents/contract/agents.ts';
import { omitUndefined } from '../platform/records.ts';
import { addDefinitionFlags, readFields } from './agent-definition.ts';
import { confirmLoss } from './confirm.ts';
import { checkBody, checkNames } from './check-body.ts';
import type { DefinitionFlags } from './agent-definition.ts';
import { buildContext, readInteger, readPage } from './context.ts';
import { CliError } from './cli-error.ts';
import { getAgent } from './find-agent.ts';
import { buildFields, buildTable, cutLine, paint, showTime } from './text.ts';

type ListFlags = { status?: 'active' | 'archived'; limit: string; offset: string };

function describeTool(tool: ToolConfig): string {
  if (tool.type === 'custom_tool') return tool.name;
  const policy = tool.defaultConfig?.permissionPolicy?.type ?? 'always_ask';
  const name = tool.type === 'agent_toolset' ? 'built-in' : tool.mcpServerName;
  return `${name} (${tool.defaultConfig?.enabled === false ? 'off' : policy.replace('always_', '')})`;
}

function showAgent(agent: Agent): string {
  const { version } = agent;
  return buildFields({
    id: agent.id,
    name: agent.name,
    status: agent.status,
    model: version.modelName,
    version: `${version.version} (production: ${agent.productionVersion})`,
    system: cutLine(version.systemPrompt, 100),
    tools: agent.tools.map(describeTool).join(', '),
    skills: version.skills.join(', '),
    roles: version.roles.map((role) => role.name).join(', '),
    'sandbox class': version.environment.sandboxClass ?? undefined,
    'mcp servers': version.mcpServers.map((server) => server.name).join(', '),
    updated: showTime(agent.updatedAt),
  });
}

export function addAgentCommands(program: Command): void {
  const agents = program.command('agents').description('what agents are, and their versions');

  agents
    .command('list')
    .description('the agents of the organization, newest first')
    .addOption(new Option('--status <status>', 'active or archived').choices(['active', 'archived']))
    .option('--limit <n>', '1 to 100', '50')
    .option('--offset <n>', 'how many to leave out', '0')
    .action(async ({ status, limit, offset }: ListFlags, command: Command) => {
      const context = buildContext(command);
      const page = await context.client.listAgents({
        ...omitUndefined({ status }),
        ...readPage({ limit, offset }),
      });
      context.show(page, () => {
        if (page.data.length === 0)
          return paint('dim', 'No agents yet: capstan agents create --name demo --model script/demo');
        const rows = page.data.map((agent) => [
          agent.name,
          agent.version.modelName,
          `v${agent.version.version}${agent.productionVersion === agent.version.version ? '' : ` (production v${agent.productionVersion})`}`,
          agent.status,
          agent.id,
        ]);
        return buildTable(['NAME', 'MODEL', 'VERSION', 'STATUS', 'ID'], rows);
      });
    });

  agents
    .command('get <agent>')
    .description('one agent, by id or by name')
    .action(async (reference: string, _flags: object, command: Command) => {
      const context = buildContext(command);
      const agent = await getAgent(context.client, reference);
      context.show(agent, () => showAgent(agent));
    });

  addDefinitionFlags(agents.command('create').description('make an agent')).action(
    async (flags: DefinitionFlags, command: Command) => {
      const context = buildContext(command);
      const fields = { systemPrompt: '', skills: [], tools: [], ...readFields(flags) };
      checkNames(AgentCreate, fields);
      if (!('name' in fields) || !('modelName' in fields)) throw new CliError('An agent needs --name and --model.', 2);
      const body = checkBody(AgentCreate, fields);
      const agent = await context.client.createAgent(body);
      context.show(agent, () => showAgent(agent));
    },
  );

  addDefinitionFlags(agents.command('update <agent>').description('publish a version with what changes')).action(
    async (reference: string, flags: DefinitionFlags, command: Command) => {
      const context = buildContext(command);
      const body = checkBody(AgentPatch, readFields(flags));
      const { id } = await getAgent(context.client, reference);
      const agent = await context.client.patchAgent(id, body);
      context.show(agent, () => showAgent(agent));
    },
  );

  agents
    .command('archive <agent>')
    .description('take no new versions and sessions')
    .action(async (reference: string, _flags: object, command: Command) => {
      const context = buildContext(command);
      const { id } = await getAgent(context.client, reference);
      const agent = await context.client.archiveAgent(id);
      context.show(agent, () => `Archived ${agent.name}`);
    });

  agents
    .command('delete <agent>')
    .description('delete an agent and its sessions')
    .option('--yes', 'do not ask')
    .action(async (reference: string, { yes }: { yes?: boolean }, command: Command) => {
      const context = buildContext(command);
      const { id, name } = await getAgent(context.client, reference);
      await confirmLoss(`Delete the agent ${name} and its sessions?`, { yes, json: context.json });
      const deleted = await context.client.deleteAgent(id);
      context.show(deleted, () => `Deleted ${name}`);
    });

  addVersionCommands(agents);
}

function addVersionCommands(agents: Command): void {
  agents
    .command('versions <agent>')
    .description('the versions, newest first')
    .action(async (reference: string, _flags: object, command: Command) => {
      const context = buildContext(command);
      const agent = await getAgent(context.client, reference);
      const page = await context.client.listVersions(agent.id, { limit: 100 });
      context.show(page, () => {
        const rows = page.data.map((version) => [
          `v${version.version}${version.version === agent.productionVersion ? ' production' : ''}`,
          version.modelName,
          showTime(version.createdAt),
          cutLine(version.systemPrompt, 50),
        ]);
        return buildTable(['VERSION', 'MODEL', 'CREATED', 'SYSTEM'], rows);
      });
    });

  agents
    .command('promote <agent> <version>')
    .description('put a version into production')
    .action(async (reference: string, version: string, _flags: object, command: Command) => {
      const context = buildContext(command);
      const body = { version: readInteger(version.replace(/^v/, ''), 'The version') };
      const { id, name } = await getAgent(context.client, reference);
      const pointer = await context.client.setProduction(id, body);
      context.show(pointer, () => `${name} v${pointer.version} is in production`);
    });

  const tag = agents
    .command('tag <agent> [tag] [version]')
    .description('list the tags, or set one to a version')
    .option('--delete', 'delete the tag');
  tag.action(async (reference: string, tagName: string | undefined, version: string | undefined) => {
    const isDelete = tag.opts<{ delete?: boolean }>().delete === true;
    const context = buildContext(tag);
    if (tagName !== undefined && version === undefined && !isDelete) {
      throw new CliError('Say which version the tag names.', 2);
    }
    const { id: agentId } = await getAgent(context.client, reference);
    if (tagName === undefined) {
      const page = await context.client.listTags(agentId, { limit: 100 });
      const rows = page.data.map(({ name, version: number, updatedAt }) => [name, `v${number}`, showTime(updatedAt)]);
      context.show(page, () => (rows.length === 0 ? 'No tags' : buildTable(['TAG', 'VERSION', 'UPDATED'], rows)));
    } else if (isDelete) {
      const deleted = await context.client.deleteTag(agentId, tagName);
      context.show(deleted, () => `Deleted the tag ${tagName}`);
    } else {
      const body = { version: readInteger((version ?? '').replace(/^v/, ''), 'The version') };
      const set = await context.client.setTag(agentId, tagName, body);
      context.show(set, () => `${set.name} is v${set.version}`);
    }
  });
}
