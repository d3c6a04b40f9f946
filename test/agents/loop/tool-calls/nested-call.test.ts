import { expect, it } from 'vitest';
import { settleCalls } from '../../../../src/agents/loop/tool-calls/settle.ts';
import { toLogEvent } from '../../../../src/agents/log/read.ts';
import { endNestedCalls, endThreads } from '../../../../src/agents/log/build-nested-events.ts';
import { buildNestedDeps, storedAt } from '../../../../src/agents/loop/tool-calls/nested-call.ts';
import { buildRawEvent } from '../../../support/events.ts';
import type { Tool } from '../../../../src/agents/tools/tool.ts';
import { LeaseLostError } from '../../../../src/agents/loop/turn/types.ts';
import type { Turn, TurnDeps } from '../../../../src/agents/loop/turn/types.ts';

const TAG = { parent_tool_use_id: 'evt_0', thread_id: 'trd_1' };
const USE = { toolset: null, input: {}, evaluated_permission: 'allow' };

let sequence = 0;
const log = (payload: { type: string } & Record<string, unknown>, id = `evt_${sequence}`) => {
  sequence += 1;
  return toLogEvent(buildRawEvent(payload, { id, turnId: 'trn_1' }), storedAt(sequence));
};

it('ends the nested calls that have no result, by the name under which they began', () => {
  const events = [
    log({ type: 'agent.tool_use', name: 'delegate_task', ...USE, id: 'evt_0' }, 'evt_0'),
    log({ type: 'agent.tool_use', name: 'terminal', ...USE, ...TAG, id: 'evt_a' }, 'evt_a'),
    log({ type: 'agent.tool_result', name: 'terminal', tool_use_id: 'evt_a', ...TAG }),
    log({ type: 'agent.tool_use', name: 'terminal', ...USE, ...TAG, id: 'evt_b' }, 'evt_b'),
    log({ type: 'agent.mcp_tool_use', name: 'echo', mcp_server_name: 'files', ...USE, ...TAG, id: 'evt_c' }, 'evt_c'),
  ];
  const content = [{ type: 'text', text: '{"error":"lost"}' }];
  const end = { content, is_error: true, duration_ms: 0, ...TAG };
  expect(endNestedCalls(events, 'lost').map(({ turnId, payload }) => ({ turnId, payload }))).toEqual([
    { turnId: 'trn_1', payload: { type: 'agent.tool_result', tool_use_id: 'evt_b', name: 'terminal', ...end } },
    {
      turnId: 'trn_1',
      payload: {
        type: 'agent.mcp_tool_result',
        tool_use_id: 'evt_c',
        mcp_tool_use_id: 'evt_c',
        name: 'echo',
        mcp_server_name: 'files',
        ...end,
      },
    },
  ]);
});

it('ends the threads that have sent and not received', () => {
  const thread = (thread_id: string) => ({ thread_id, agent_name: 'subagent', tool_use_id: 'evt_0', content: [] });
  const events = [
    log({ type: 'agent.thread_message_sent', ...thread('trd_1') }),
    log({ type: 'agent.thread_message_sent', ...thread('trd_2') }),
    log({ type: 'agent.thread_message_received', ...thread('trd_1'), status: 'completed' }),
  ];
  expect(endThreads(events, 'lost').map(({ payload }) => payload)).toEqual([
    {
      type: 'agent.thread_message_received',
      thread_id: 'trd_2',
      agent_name: 'subagent',
      tool_use_id: 'evt_0',
      status: 'interrupted',
      is_error: true,
      content: [{ type: 'text', text: 'lost' }],
      usage: {},
    },
  ]);
});

it('has no effect where the session belongs to another worker', async () => {
  const turn: Turn = {
    id: 'trn_1',
    startedAt: new Date(),
    steps: 1,
    step: null,
    usage: {},
    unwritten: [],
    unwrittenCalls: [],
    consumed: [],
    toolState: {},
  };
  let ran = 0;
  const tool: Tool = {
    name: 'terminal',
    toolset: 'terminal',
    description: '',
    parameters: { type: 'object' },
    readOnly: false,
    parallelism: () => 'exclusive',
    run() {
      ran += 1;
      return Promise.resolve({ content: '', isError: false });
    },
  };
  const config = { type: 'agent_toolset', defaultConfig: { permissionPolicy: { type: 'always_allow' } } };
  let lost = false;
  const deps = {
    session: { toolConfigs: [config] },
    inference: { findModel: () => undefined },
    tools: new Map([[tool.name, tool]]),
    mcp: {
      listTools: () => Promise.resolve([]),
      listUnavailable: () => Promise.resolve([]),
      listInstructions: () => Promise.resolve([]),
    },
    ports: {},
    readPermissions: () => Promise.resolve({ yoloMode: false, approved: new Set() }),
    openSandbox: () => Promise.reject(new Error('There is no sandbox.')),
    signal: new AbortController().signal,
    logError: () => undefined,
    journal: {
      events: [],
      append: () => (lost ? Promise.reject(new LeaseLostError('claimed elsewhere')) : Promise.resolve()),
    },
    limits: { maxSteps: 10, customToolTimeoutMs: 1000 },
  } as unknown as TurnDeps;
  const inner = buildNestedDeps(turn, deps, { tag: TAG });
  const call = { useId: 'evt_1', index: 0, callId: 'c', name: 'terminal', arguments: '{}' };
  await settleCalls({ number: 1, calls: [call] }, turn, inner);
  expect(ran).toBe(1);
  lost = true;
  const next = settleCalls({ number: 2, calls: [{ ...call, useId: 'evt_2' }] }, turn, inner);
  await expect(next).rejects.toThrow('claimed elsewhere');
  expect(ran).toBe(1);
});
