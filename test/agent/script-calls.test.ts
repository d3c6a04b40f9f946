import { beforeEach, expect, it } from 'vitest';
import { buildScriptCalls } from '../../src/agent/script-calls.ts';
import type { Tool, ToolContext } from '../../src/agent/tools/tool.ts';
import type { TurnDeps } from '../../src/agent/turn-types.ts';
import { NEVER } from '../support/sandbox.ts';

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

function buildTool(name: string, readOnly: boolean, work: (input: Record<string, unknown>) => Promise<void>): Tool {
  return {
    name,
    toolset: name === 'terminal' ? 'terminal' : 'file',
    description: '',
    parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    readOnly,
    parallelism: () => 'exclusive',
    async run(input, { callId }) {
      running += 1;
      most = Math.max(most, running);
      ran.push(String(input['id']));
      try {
        await work(input);
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
  // ends when two of it run at once
  buildTool('read_file', true, async () => {
    arrived += 1;
    if (arrived === 2) met.resolve();
    await met.promise;
  }),
  buildTool('write_file', false, ticks),
  buildTool('terminal', false, async () => {
    throw new Error('what the operator reads');
  }),
];

function openCalls() {
  const reports: unknown[] = [];
  const deps = {
    session: {
      toolConfigs: [{ type: 'agent_toolset', defaultConfig: { permissionPolicy: { type: 'always_allow' } } }],
    },
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    readPermissions: async () => ({ yoloMode: false, approved: new Set() }),
    report: (error: unknown) => reports.push(error),
  } as unknown as TurnDeps;
  return { calls: buildScriptCalls({} as ToolContext, deps), reports };
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

it('offers what is there', () => {
  expect(openCalls().calls.names).toEqual(['read_file', 'write_file', 'terminal']);
});

it('answers arguments that do not fit with an error, and runs nothing', async () => {
  const answer = await openCalls().calls.run('write_file', { path: 'x' }, '1', NEVER);
  expect(answer).toEqual({ content: JSON.stringify({ error: 'id: is required' }), ran: false });
  expect(ran).toEqual([]);
});

it('gives an error for a tool that breaks, tells the operator why, and goes on', async () => {
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
