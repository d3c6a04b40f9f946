import type { Command } from 'commander';
import { AUTOMATION_COMMANDS } from './automation-commands.ts';
import { BUDGET_COMMANDS } from './budgets.ts';
import { addRestCommand } from './command.ts';
import type { RestCommand, RestOption } from './command.ts';
import { PROVIDER_COMMANDS, UPSTREAM_COMMANDS } from './providers.ts';
import { WEBHOOK_COMMANDS } from './webhooks.ts';

const LIMIT: RestOption = { flags: '--limit <n>', about: 'how many at most', to: 'query', field: 'limit' };
const TARGET: RestOption = { flags: '--target <target>', about: 'user or memory', to: 'query', field: 'target' };
const PATH: RestOption = {
  flags: '--path <path>',
  about: 'folder',
  to: 'query',
  field: 'path',
};

const VAULT_COMMANDS: readonly RestCommand[] = [
  { use: 'vaults list', about: 'the vaults', method: 'GET', path: '/v1/vaults', options: [LIMIT] },
  {
    use: 'vaults create <name>',
    about: 'make a vault',
    method: 'POST',
    path: '/v1/vaults',
    bodyArguments: { name: 'displayName' },
  },
  {
    use: 'vaults delete <vault>',
    about: 'delete a vault without credentials',
    method: 'DELETE',
    path: '/v1/vaults/{vault}',
    confirm: 'Delete the vault {vault}?',
    done: 'Deleted {vault}',
  },
  {
    use: 'vaults remove <vault> <credential>',
    about: 'delete a credential',
    method: 'DELETE',
    path: '/v1/vaults/{vault}/credentials/{credential}',
    confirm: 'Delete the credential {credential}?',
    done: 'Removed {credential}',
  },
  {
    use: 'vaults credentials <vault>',
    about: 'the credentials of a vault, without their secrets',
    method: 'GET',
    path: '/v1/vaults/{vault}/credentials',
    columns: [
      ['ID', 'id'],
      ['NAME', 'displayName'],
      ['TYPE', 'auth.type'],
      ['SERVER', 'auth.mcpServerUrl'],
      ['ARCHIVED', 'archivedAt'],
    ],
  },
  {
    use: 'vaults attach <agent> <vaults>',
    about: 'the vaults that an agent uses from now on, comma-separated ids; `-` for none',
    method: 'PUT',
    path: '/v1/agents/{agent}/vaults',
    bodyArguments: { vaults: 'vaultIds' },
    lists: ['vaults'],
  },
];

const MCP_COMMANDS: readonly RestCommand[] = [
  {
    use: 'mcp list <agent>',
    about: 'the MCP servers of an agent, and whether there is a credential',
    method: 'GET',
    path: '/v1/agents/{agent}/vaults',
    rows: 'connections',
  },
  {
    use: 'mcp test <agent> <server>',
    about: 'connect to a server and list its tools',
    method: 'POST',
    path: '/v1/agents/{agent}/mcp/{server}/test',
  },
];

const MEMORY = '/v1/agents/{agent}/users/{subject}/memory';
const MEMORY_COMMANDS: readonly RestCommand[] = [
  {
    use: 'memory get <agent>',
    about: 'what an agent has noted about a subject',
    method: 'GET',
    path: MEMORY,
    options: [TARGET],
  },
  {
    use: 'memory set <agent> <text>',
    about: 'replace what is noted about a subject',
    method: 'PUT',
    path: MEMORY,
    options: [TARGET],
    bodyArguments: { text: 'content' },
  },
  {
    use: 'memory delete <agent>',
    about: 'forget what is noted about a subject',
    method: 'DELETE',
    path: MEMORY,
    options: [TARGET],
    confirm: 'Delete the notes about this subject?',
    done: 'Deleted',
  },
];

const FILES = '/v1/agents/{agent}/users/{subject}/files';
const FILE_COMMANDS: readonly RestCommand[] = [
  {
    use: 'files list <agent>',
    about: 'a folder of the workspace',
    method: 'GET',
    path: FILES,
    options: [PATH, LIMIT],
  },
  {
    use: 'files mkdir <agent> <path>',
    about: 'make a folder',
    method: 'POST',
    path: `${FILES}/mkdir`,
    bodyArguments: { path: 'path' },
  },
  {
    use: 'files delete <agent> <path>',
    about: 'delete a file or a folder',
    method: 'DELETE',
    path: `${FILES}?path={path}&recursive=true`,
    confirm: 'Delete {path}?',
    done: 'Deleted {path}',
  },
];

const SUBJECT_COMMANDS: readonly RestCommand[] = [
  {
    use: 'subjects list',
    about: 'the subjects that have sessions',
    method: 'GET',
    path: '/v1/subjects',
    options: [LIMIT],
    columns: [
      ['SUBJECT', 'subjectId'],
      ['AGENT', 'agentId'],
      ['SESSIONS', 'sessions'],
      ['LAST ACTIVITY', 'lastActivityAt'],
    ],
  },
  {
    use: 'subjects delete <agent>',
    about: 'delete the sessions, memory, approvals, automations and files of a subject',
    method: 'DELETE',
    path: '/v1/agents/{agent}/users/{subject}',
    confirm: 'Delete everything about the subject {subject}?',
    done: 'Deleted {subject}',
  },
];

const SANDBOX_COMMANDS: readonly RestCommand[] = [
  {
    use: 'sandboxes list',
    about: 'the sandboxes that run now',
    method: 'GET',
    path: '/v1/sandboxes',
    options: [LIMIT],
    columns: [
      ['SESSION', 'sessionId'],
      ['AGENT', 'agentName'],
      ['SUBJECT', 'subjectId'],
      ['PHASE', 'phase'],
      ['SINCE', 'startedAt'],
      ['USED BYTES', 'volume.usedBytes'],
    ],
  },
  {
    use: 'sandboxes stop <session>',
    about: 'end the sandbox of a session with all its processes; files stay',
    method: 'DELETE',
    path: '/v1/sessions/{session}/sandbox',
    confirm: 'Stop the sandbox of {session} and all its processes?',
    done: 'Stopped the sandbox of {session}',
  },
];

const VIDEO_COMMANDS: readonly RestCommand[] = [
  { use: 'videos list', about: 'generations, newest first', method: 'GET', path: '/api/generations', options: [LIMIT] },
  { use: 'videos models', about: 'models of videos', method: 'GET', path: '/api/models' },
  {
    use: 'videos create <prompt>',
    about: 'generate a video',
    method: 'POST',
    path: '/api/generations',
    body: { modelName: 'local/storyboard-1' },
    bodyArguments: { prompt: 'prompt' },
    options: [
      { flags: '--model <model>', about: 'default: local/storyboard-1', to: 'body', field: 'modelName' },
      { flags: '--duration <seconds>', about: 'such as 5s', to: 'body', field: 'duration' },
      { flags: '--resolution <size>', about: 'such as 720p', to: 'body', field: 'resolution' },
      { flags: '--aspect-ratio <ratio>', about: 'such as 16:9', to: 'body', field: 'aspectRatio' },
    ],
  },
  { use: 'videos get <id>', about: 'one generation', method: 'GET', path: '/api/generations/{id}' },
  {
    use: 'videos cancel <id>',
    about: 'cancel or delete a generation',
    method: 'DELETE',
    path: '/api/generations/{id}',
    confirm: 'Cancel or delete {id}?',
    done: 'Cancelled {id}',
  },
];

const USAGE: RestCommand = {
  use: 'capstan usage',
  about: 'what the organization has used',
  method: 'GET',
  path: '/v1/usage',
  query: { source: 'all' },
  columns: [
    ['MODEL', 'model'],
    ['AGENT', 'agentId'],
    ['DAY', 'day'],
    ['REQUESTS', 'requests'],
    ['INPUT', 'inputTokens'],
    ['OUTPUT', 'outputTokens'],
    ['TOOL CALLS', 'toolCalls'],
    ['USD', 'costUsd'],
  ],
  options: [
    {
      flags: '--source <product>',
      about: 'gateway, agents, video or login; default: all',
      to: 'query',
      field: 'source',
    },
    { flags: '--group-by <names>', about: 'such as model, key, day', to: 'query', field: 'groupBy' },
    { flags: '--from <time>', about: 'beginning, ISO', to: 'query', field: 'from' },
    { flags: '--to <time>', about: 'end, ISO', to: 'query', field: 'to' },
  ],
};
const MODELS: RestCommand = {
  use: 'capstan models',
  about: 'models of agents',
  method: 'GET',
  path: '/v1/models',
  columns: [
    ['MODEL', 'id'],
    ['WINDOW', 'context_window'],
    ['MAX OUTPUT', 'max_output_tokens'],
    ['USD/M INPUT', 'price.input'],
    ['USD/M OUTPUT', 'price.output'],
  ],
};

const GROUPS: readonly { name: string; about: string; commands: readonly RestCommand[] }[] = [
  { name: 'automations', about: 'prompts on a schedule', commands: AUTOMATION_COMMANDS },
  { name: 'vaults', about: 'credentials of MCP servers', commands: VAULT_COMMANDS },
  { name: 'mcp', about: 'MCP servers of agents', commands: MCP_COMMANDS },
  { name: 'memory', about: 'what agents have noted', commands: MEMORY_COMMANDS },
  { name: 'files', about: 'files of a subject', commands: FILE_COMMANDS },
  { name: 'subjects', about: 'all that is kept about a subject', commands: SUBJECT_COMMANDS },
  { name: 'sandboxes', about: 'where commands of sessions run', commands: SANDBOX_COMMANDS },
  { name: 'providers', about: 'own keys of model providers', commands: PROVIDER_COMMANDS },
  { name: 'upstreams', about: 'where model calls go', commands: UPSTREAM_COMMANDS },
  { name: 'videos', about: 'generated videos', commands: VIDEO_COMMANDS },
  { name: 'budgets', about: 'limits on what models cost', commands: BUDGET_COMMANDS },
  { name: 'webhooks', about: 'endpoints that are told of events', commands: WEBHOOK_COMMANDS },
];

/** Every command that is one request. Returns the groups by name, for further commands. */
export function addRestCommands(program: Command): ReadonlyMap<string, Command> {
  addRestCommand(program, USAGE);
  addRestCommand(program, MODELS);
  return new Map(
    GROUPS.map(({ name, about, commands }) => {
      const group = program.command(name).description(about);
      for (const spec of commands) addRestCommand(group, spec);
      return [name, group];
    }),
  );
}
