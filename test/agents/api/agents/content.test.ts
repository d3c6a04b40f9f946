import { expect, test } from 'vitest';
import {
  isModelName,
  listDanglingToolsets,
  mergeByIdentity,
  mergeContent,
} from '../../../../src/agents/api/agents/content.ts';
import type { AgentPatch } from '../../../../src/agents/contract/agents.ts';
import type { ToolConfig } from '../../../../src/agents/contract/tools.ts';
import type { VersionContent } from '../../../../src/agents/store/versions.ts';

type Item = { id: string; value: number };
const item = (id: string, value: number): Item => ({ id, value });

test.each<[string, Item[], Item[] | undefined, Item[]]>([
  ['nothing supplied keeps all', [item('a', 1)], undefined, [item('a', 1)]],
  ['an empty collection removes nothing', [item('a', 1)], [], [item('a', 1)]],
  ['a match is replaced where it stands', [item('a', 1), item('b', 1)], [item('a', 2)], [item('a', 2), item('b', 1)]],
  ['a new one is appended', [item('a', 1)], [item('b', 2)], [item('a', 1), item('b', 2)]],
  [
    'both at once',
    [item('a', 1), item('b', 1)],
    [item('c', 3), item('b', 2)],
    [item('a', 1), item('b', 2), item('c', 3)],
  ],
  ['into nothing', [], [item('a', 1)], [item('a', 1)]],
])('merge by identity: %s', (_name, stored, supplied, merged) => {
  expect(mergeByIdentity(stored, supplied, ({ id }) => id)).toEqual(merged);
});

const custom = (name: string, description = ''): ToolConfig => ({
  type: 'custom_tool',
  name,
  description,
  input_schema: {},
});
const mcp = (mcpServerName: string): ToolConfig => ({ type: 'mcp_toolset', mcpServerName });
const server = (name: string, url = 'https://one.example') => ({ type: 'url' as const, name, url });

const STORED: VersionContent = {
  modelName: 'a/b',
  systemPrompt: 'old',
  skills: [{ name: 's', content: 'old' }],
  tools: [{ type: 'agent_toolset', defaultConfig: { enabled: true } }, custom('x', 'old'), mcp('one')],
  roles: [{ name: 'r', description: 'old', tools: [custom('y')] }],
  mcpServers: [server('one')],
  environment: { sandboxClass: 'gpu' },
  reasoning: { effort: 'low' },
  metadata: { kept: true },
};

test.each<[string, AgentPatch, Partial<VersionContent>]>([
  ['a scalar', { systemPrompt: '' }, { systemPrompt: '' }],
  ['reasoning', { reasoning: null }, { reasoning: null }],
  ['the environment', { environment: { sandboxClass: null } }, { environment: { sandboxClass: null } }],
  ['metadata, whole', { metadata: { other: 1 } }, { metadata: { other: 1 } }],
  ['a skill', { skills: [{ name: 's', content: 'new' }] }, { skills: [{ name: 's', content: 'new' }] }],
  [
    'a custom tool',
    { tools: [custom('x', 'new')] },
    { tools: [STORED.tools[0]!, custom('x', 'new'), STORED.tools[2]!] },
  ],
  [
    'the agent toolset, wholly replaced',
    { tools: [{ type: 'agent_toolset' }] },
    { tools: [{ type: 'agent_toolset' }, STORED.tools[1]!, STORED.tools[2]!] },
  ],
  ['an MCP toolset of another server', { tools: [mcp('two')] }, { tools: [...STORED.tools, mcp('two')] }],
  [
    'a role: its tools are replaced, not merged',
    { roles: [{ name: 'r', tools: [] }] },
    { roles: [{ name: 'r', tools: [] }] },
  ],
  [
    'a server',
    { mcpServers: [server('one', 'https://two.example')] },
    { mcpServers: [server('one', 'https://two.example')] },
  ],
])('a patch changes %s and keeps the rest', (_name, patch, changed) => {
  expect(mergeContent(STORED, patch)).toEqual({ ...STORED, ...changed });
});

test('MCP toolsets without a server are found at the top and in roles', () => {
  const tools = [custom('x'), mcp('one'), mcp('two')];
  const roles = [
    { name: 'a', tools: [] },
    { name: 'b', tools: [mcp('three'), mcp('one')] },
  ];
  expect(listDanglingToolsets({ tools, roles }, [server('one')])).toEqual([
    'tools[2].mcpServerName',
    'roles[1].tools[0].mcpServerName',
  ]);
});

test.each([
  ['a/b', true],
  ['acme/org/model:free', true],
  ['fast', true],
  ['slow', false],
  ['/b', false],
  ['a/', false],
  ['a b/c', false],
  ['a/b c', false],
  ['a/b\n', false],
])('model name %j: %s', (name, valid) => {
  expect(isModelName(name, new Set(['fast']))).toBe(valid);
});
