import { describe, expect, it } from 'vitest';
import {
  decidePermission,
  findMcpPolicy,
  findToolsetPolicy,
  readCustomPolicy,
} from '../../../../src/agents/loop/tool-calls/policy.ts';
import type { PermissionPolicy, ToolConfig } from '../../../../src/agents/contract/tools.ts';

type Policy = PermissionPolicy['type'];
const POLICIES: Policy[] = ['always_allow', 'always_ask', 'always_deny'];
const BOOLEANS = [false, true];

const cases = BOOLEANS.flatMap((enabled) =>
  POLICIES.flatMap((policy) =>
    BOOLEANS.flatMap((yoloMode) =>
      BOOLEANS.flatMap((approved) => BOOLEANS.map((exempt) => ({ enabled, policy, yoloMode, approved, exempt }))),
    ),
  ),
);

describe('a decision', () => {
  it.each(cases)('for %j', ({ enabled, policy, yoloMode, approved, exempt }) => {
    const { action, permission } = decidePermission({ enabled, policy }, { yoloMode, approved, exempt });
    const denied = !enabled || policy === 'always_deny';
    const allowed = policy === 'always_allow' || exempt;
    expect(permission).toBe(denied ? 'deny' : allowed ? 'allow' : 'ask');
    expect(action).toBe(denied ? 'deny' : allowed || yoloMode || approved ? 'run' : 'ask');
  });
});

const ask = { type: 'always_ask' } as const;
const allow = { type: 'always_allow' } as const;

describe('the policy of a built-in toolset', () => {
  it.each<{ what: string; tools: ToolConfig[]; toolset: 'terminal' | 'delegation'; expected: [boolean, Policy] }>([
    { what: 'without an agent_toolset', tools: [], toolset: 'terminal', expected: [false, 'always_deny'] },
    {
      what: 'of an empty agent_toolset',
      tools: [{ type: 'agent_toolset' }],
      toolset: 'terminal',
      expected: [true, 'always_ask'],
    },
    {
      what: 'by default',
      tools: [{ type: 'agent_toolset', defaultConfig: { enabled: false, permissionPolicy: allow } }],
      toolset: 'terminal',
      expected: [false, 'always_allow'],
    },
    {
      what: 'by name, over the default, field by field',
      tools: [
        {
          type: 'agent_toolset',
          defaultConfig: { enabled: false, permissionPolicy: allow },
          configs: [{ name: 'terminal', enabled: true }],
        },
      ],
      toolset: 'terminal',
      expected: [true, 'always_allow'],
    },
    {
      what: 'that is extra, by default',
      tools: [{ type: 'agent_toolset', defaultConfig: { enabled: true, permissionPolicy: allow } }],
      toolset: 'delegation',
      expected: [false, 'always_allow'],
    },
    {
      what: 'that is extra, by name',
      tools: [{ type: 'agent_toolset', configs: [{ name: 'delegation', permissionPolicy: ask }] }],
      toolset: 'delegation',
      expected: [true, 'always_ask'],
    },
    {
      what: 'that is extra, disabled by name',
      tools: [{ type: 'agent_toolset', configs: [{ name: 'delegation', enabled: false }] }],
      toolset: 'delegation',
      expected: [false, 'always_ask'],
    },
  ])('$what', ({ tools, toolset, expected: [enabled, policy] }) => {
    expect(findToolsetPolicy(tools, toolset)).toEqual({ enabled, policy });
  });
});

it('a custom tool is enabled and asks, unless it says otherwise', () => {
  const tool = { type: 'custom_tool', name: 'x', description: '', input_schema: {} } as const;
  expect(readCustomPolicy(tool)).toEqual({ enabled: true, policy: 'always_ask' });
  expect(readCustomPolicy({ ...tool, enabled: false, permissionPolicy: allow })).toEqual({
    enabled: false,
    policy: 'always_allow',
  });
});

it('a server has the policy of its own toolset, a tool of it its own', () => {
  const tools: ToolConfig[] = [
    {
      type: 'mcp_toolset',
      mcpServerName: 'crm',
      defaultConfig: { permissionPolicy: allow },
      configs: [{ name: 'erase', permissionPolicy: ask }],
    },
  ];
  expect(findMcpPolicy(tools, 'crm', 'read')).toEqual({ enabled: true, policy: 'always_allow' });
  expect(findMcpPolicy(tools, 'crm', 'erase')).toEqual({ enabled: true, policy: 'always_ask' });
  expect(findMcpPolicy(tools, 'other', 'read')).toEqual({ enabled: false, policy: 'always_deny' });
});
