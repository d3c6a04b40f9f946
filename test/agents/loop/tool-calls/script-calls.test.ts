import { once } from 'node:events';
import { beforeEach, expect, it } from 'vitest';
import { buildScriptCalls } from '../../../../src/agents/loop/tool-calls/script-calls.ts';
import type { Tool, ToolContext } from '../../../../src/agents/tools/tool.ts';
import type { Turn, TurnDeps } from '../../../../src/agents/loop/turn/types.ts';
import type { NewEvent } from '../../../../src/agents/log/event.ts';
import { NEVER } from '../../../support/sandbox.ts';

let running = 0;
let most = 0;
let ran: string[] = [];
beforeEach(() => {
  running = 0;
  most = 0;
  ran = [];
});

const ticks = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
};

function buildTool(
  name: string,
  readOnly: boolean,
  work: (input: Record<string, unknown>, signal: AbortSignal) => Promise<void>,
): Tool {
  return {
    name,
    toolset: name === 'terminal' ? 'terminal' : 'file',
    description: '',
    parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    readOnly,
    parallelism: () => 'exclusive',
    async run(input, { callId, signal }) {
      running += 1;
      most = Math.max(most, running);
      ran.push(String(input['id']));
      try {
        await work(input, signal);
      } finally {
        running -= 1;
      }
      return { content: callId, isError: false };
    },
  };
}

let arrived = 0;
const met = Promise.withResolvers<void>();
const tools = [
  // ends when two calls of it run concurrently
  buildTool('read_file', true, async () => {
    arrived += 1;
    if (arrived === 2) met.resolve();
    await met.promise;
  }),
  buildTool('write_file', false, ticks),
  buildTool('terminal', false, async () => {
    throw new Error('what the operator reads');
  }),
  buildTool('patch', false, (_input, signal) => once(signal, 'abort').then(() => signal.throwIfAborted())),
];

function openCalls() {
  const reports: unknown[] = [];
  const log: Record<string, unknown>[] = [];
  const deps = {
    session: {
      toolConfigs: [{ type: 'agent_toolset', defaultConfig: { permissionPolicy: { type: 'always_allow' } } }],
    },
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    readPermissions: async () => ({ yoloMode: false, approved: new Set() }),
    logError: (error: unknown) => reports.push(error),
    signal: NEVER,
    journal: {
      append: async ({ events }: { events: NewEvent[] }) => void log.push(...events.map(({ payload }) => payload)),
    },
  } as unknown as TurnDeps;
  const context = { callId: 'evt_script' } as ToolContext;
  return { calls: buildScriptCalls(context, { id: 'trn_1' } as Turn, deps), reports, log };
}

it('reads at once, and changes one after the other in the order of the calls', async () => {
  const { calls } = openCalls();
  const call = (name: string, id: string) => calls.run(name, { id }, `call.${id}`, NEVER);
  const done = await Promise.all([
    call('read_file', '1'),
    call('read_file', '2'),
    call('write_file', '3'),
    call('write_file', '4'),
    call('read_file', '5'),
  ]);
  expect(done.map(({ content }) => content)).toEqual(['call.1', 'call.2', 'call.3', 'call.4', 'call.5']);
  expect(ran).toEqual(['1', '2', '3', '4', '5']);
  expect(most).toBe(2);
});

it('has changes alone, also beside reading', async () => {
  const { calls } = openCalls();
  await Promise.all(['1', '2', '3'].map((id) => calls.run('write_file', { id }, id, NEVER)));
  expect(most).toBe(1);
  expect(ran).toEqual(['1', '2', '3']);
});

it('offers the available tools', () => {
  expect(openCalls().calls.names).toEqual(['read_file', 'write_file', 'patch', 'terminal']);
});

it('answers arguments that do not fit with an error, and runs nothing', async () => {
  const answer = await openCalls().calls.run('write_file', { path: 'x' }, '1', NEVER);
  expect(answer).toEqual({ content: JSON.stringify({ error: 'id: is required' }), ran: false });
  expect(ran).toEqual([]);
});

it('returns an error for a tool that throws, logs the cause, and continues', async () => {
  const { calls, reports } = openCalls();
  const broken = await calls.run('terminal', { id: '1' }, '1', NEVER);
  expect(broken.ran).toBe(true);
  expect(broken.content).toContain('outcome is unknown');
  expect(broken.content).not.toContain('operator');
  expect(reports).toHaveLength(1);
  expect((await calls.run('write_file', { id: '2' }, 'two', NEVER)).content).toBe('two');
});

it('starts nothing after an interrupt', async () => {
  const { calls } = openCalls();
  const abort = new AbortController();
  const first = calls.run('write_file', { id: '1' }, '1', NEVER);
  const second = calls.run('write_file', { id: '2' }, '2', abort.signal);
  abort.abort(new Error('stop'));
  await expect(second).rejects.toThrow('stop');
  await first;
  expect(ran).toEqual(['1']);
});

it('has each use in the log before it runs and its result after it, as the script’s, with texts cut', async () => {
  const { calls, log } = openCalls();
  const id = 'x'.repeat(5000);
  await calls.run('write_file', { id }, '1', NEVER);
  await calls.run('terminal', { id: '2' }, '2', NEVER);
  await calls.run('write_file', { path: 'refused' }, '3', NEVER);
  expect(log.map(({ type, name, is_error: isError }) => [type, name, isError])).toEqual([
    ['agent.tool_use', 'write_file', undefined],
    ['agent.tool_result', 'write_file', false],
    ['agent.tool_use', 'terminal', undefined],
    ['agent.tool_result', 'terminal', true],
  ]);
  expect(new Set(log.map((payload) => payload['parent_tool_use_id']))).toEqual(new Set(['evt_script']));
  expect(log[0]).toMatchObject({ input: { id: `${'x'.repeat(2000)}… (3000 more characters)` } });
  expect(log[1]?.['tool_use_id']).toBe(log[0]?.['id']);
  expect(ran).toEqual([id, '2']);
});

it('runs nothing that could not be written', async () => {
  const { calls, log } = openCalls();
  Object.defineProperty(log, 'push', {
    value: () => {
      throw new Error('the lease is lost');
    },
  });
  await expect(calls.run('write_file', { id: '1' }, '1', NEVER)).rejects.toThrow('the lease is lost');
  expect(ran).toEqual([]);
});

it('ends a call in the log that outlived its script', async () => {
  const { calls, log } = openCalls();
  const abort = new AbortController();
  const call = calls.run('patch', { id: '1' }, '1', abort.signal);
  while (ran.length === 0) await new Promise(setImmediate);
  abort.abort(new Error('it ended'));
  await expect(call).rejects.toThrow('it ended');
  expect(log.map(({ type, is_error: isError }) => [type, isError])).toEqual([
    ['agent.tool_use', undefined],
    ['agent.tool_result', true],
  ]);
});
