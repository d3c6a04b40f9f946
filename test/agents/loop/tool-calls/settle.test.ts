import { expect, it } from 'vitest';
import type { ToolConfig } from '../../../../src/agents/contract/tools.ts';
import type { StepCall } from '../../../../src/agents/log/event.ts';
import { settleCalls } from '../../../../src/agents/loop/tool-calls/settle.ts';
import { DrainError } from '../../../../src/agents/loop/turn/types.ts';
import { askAlways, buildRecordingTool, openTurn, typesOf } from '../turn-deps.ts';

const buildCall = (name: string, id: string, index = 0): StepCall => ({
  useId: `evt_use_${id}`,
  index,
  callId: `call_${id}`,
  name,
  arguments: JSON.stringify({ id }),
});
const step = (...calls: StepCall[]) => ({ number: 1, calls });

it('writes each use before its tool runs, and the result after it', async () => {
  const seen: string[][] = [];
  const terminal = buildRecordingTool('terminal', async () => void seen.push(typesOf(world.events.slice(2))));
  const world = openTurn({ tools: [terminal.tool] });
  expect(
    await settleCalls(step(buildCall('terminal', '1'), buildCall('terminal', '2', 1)), world.turn, world.deps),
  ).toBe('settled');
  const pair = ['agent.tool_use', 'agent.tool_result'];
  expect(seen).toEqual([['agent.tool_use'], [...pair, 'agent.tool_use']]);
  expect(typesOf(world.events.slice(2))).toEqual([...pair, ...pair]);
});

it('answers a call of an unknown tool and one with invalid arguments, and runs neither', async () => {
  const terminal = buildRecordingTool('terminal');
  const { turn, deps, events } = openTurn({ tools: [terminal.tool] });
  const invalid = { ...buildCall('terminal', '2', 1), arguments: '{' };
  expect(await settleCalls(step(buildCall('nothing', '1'), invalid), turn, deps)).toBe('settled');
  expect(terminal.inputs).toEqual([]);
  const results = events.filter(({ type }) => type === 'agent.tool_result');
  expect(results.map(({ payload }) => ('is_error' in payload ? payload.is_error : undefined))).toEqual([true, true]);
});

it('runs a call with a use and no result again only if the tool just reads', async () => {
  const terminal = buildRecordingTool('terminal');
  const reader = buildRecordingTool('read_file');
  const first = openTurn({ tools: [terminal.tool, reader.tool] });
  const calls = [buildCall('terminal', '1'), buildCall('read_file', '2', 1)];
  await settleCalls(step(...calls), first.turn, first.deps);
  const lost = first.events.filter(({ type }) => type !== 'agent.tool_result');
  first.events.splice(0, first.events.length, ...lost);
  await settleCalls(step(...calls), first.turn, first.deps);
  expect(terminal.inputs).toHaveLength(1);
  expect(reader.inputs).toHaveLength(2);
  expect(JSON.stringify(first.events)).toContain('the outcome is unknown');
});

it('runs allowed calls, requests approval for the others in one write, and releases the lease', async () => {
  const terminal = buildRecordingTool('terminal');
  const { turn, deps, changes, actions, events } = openTurn({ tools: [terminal.tool], configs: [askAlways] });
  expect(await settleCalls(step(buildCall('terminal', '1')), turn, deps)).toBe('waiting');
  expect(actions).toMatchObject([{ type: 'agent.approval_request', toolUseId: 'evt_use_1', toolName: 'terminal' }]);
  expect(changes.at(-1)?.session).toMatchObject({ status: 'waiting_on_human', wakeAt: null, release: true });
  expect(events.at(-1)?.payload).toMatchObject({
    stop_reason: { type: 'requires_action', event_ids: actions.map(({ id }) => id) },
  });
});

it('gives a custom tool call a deadline, at which the session is due', async () => {
  const config = { type: 'custom_tool', name: 'lookup', description: '', input_schema: { type: 'object' } } as const;
  const allowed = { ...config, permissionPolicy: { type: 'always_allow' } } as const;
  const { turn, deps, changes, actions } = openTurn({ configs: [allowed] });
  expect(await settleCalls(step(buildCall('lookup', '1')), turn, deps)).toBe('waiting');
  expect(actions).toMatchObject([{ type: 'agent.custom_tool_use', deadline: expect.any(Date) }]);
  expect(changes.at(-1)?.session?.wakeAt).toEqual(actions[0]?.deadline);
});

it('does nothing for a call that has its result', async () => {
  const terminal = buildRecordingTool('terminal');
  const { turn, deps } = openTurn({ tools: [terminal.tool] });
  await settleCalls(step(buildCall('terminal', '1')), turn, deps);
  await settleCalls(step(buildCall('terminal', '1')), turn, deps);
  expect(terminal.inputs).toHaveLength(1);
});

it('starts no call once the worker drains, and leaves the rest to the next worker', async () => {
  const terminal = buildRecordingTool('terminal', async () => world.drain.abort(new DrainError('shutting down')));
  const world = openTurn({ tools: [terminal.tool] });
  const calls = [buildCall('terminal', '1'), buildCall('terminal', '2', 1)];
  await expect(settleCalls(step(...calls), world.turn, world.deps)).rejects.toThrow(DrainError);
  expect(typesOf(world.events.slice(2))).toEqual(['agent.tool_use', 'agent.tool_result']);
  expect(world.changes.at(-1)?.turn).toMatchObject({ state: 'running', step: step(...calls) });

  const { drain: _drain, ...next } = world.deps;
  expect(await settleCalls(step(...calls), world.turn, next)).toBe('settled');
  expect(terminal.inputs).toEqual([{ id: '1' }, { id: '2' }]);
  expect(JSON.stringify(world.events)).not.toContain('unknown');
});

it('runs nothing behind a call that waits for a person, and asks for every later one at once', async () => {
  const terminal = buildRecordingTool('terminal');
  const reader = buildRecordingTool('read_file');
  const asked = { name: 'file', permissionPolicy: { type: 'always_ask' } } as const;
  const configs: ToolConfig[] = [
    {
      type: 'agent_toolset',
      defaultConfig: { permissionPolicy: { type: 'always_allow' } },
      configs: [asked],
    },
  ];
  const world = openTurn({ tools: [terminal.tool, reader.tool], configs });
  const { turn, deps, actions, events } = world;
  const calls = step(
    buildCall('terminal', '1'),
    buildCall('read_file', '2', 1),
    buildCall('terminal', '3', 2),
    buildCall('nothing', '4', 3),
    buildCall('read_file', '5', 4),
  );
  expect(await settleCalls(calls, turn, deps)).toBe('waiting');
  expect(terminal.inputs).toEqual([{ id: '1' }]);
  expect(actions.map(({ toolUseId }) => toolUseId)).toEqual(['evt_use_2', 'evt_use_5']);
  expect(events.at(-1)?.payload).toMatchObject({ stop_reason: { event_ids: actions.map(({ id }) => id) } });

  const [first, second] = actions;
  Object.assign(first ?? {}, { state: 'answered', answer: { result: 'deny' } });
  expect(await settleCalls(calls, turn, deps)).toBe('waiting');
  expect(terminal.inputs).toEqual([{ id: '1' }, { id: '3' }]);
  expect(reader.inputs).toEqual([]);

  Object.assign(second ?? {}, { state: 'answered', answer: { result: 'allow' } });
  expect(await settleCalls(calls, turn, deps)).toBe('settled');
  expect(reader.inputs).toEqual([{ id: '5' }]);
  const results = events.flatMap(({ payload }) => (payload.type === 'agent.tool_result' ? [payload.tool_use_id] : []));
  expect(results).toEqual(['evt_use_1', 'evt_use_2', 'evt_use_3', 'evt_use_4', 'evt_use_5']);
});

it('requests a custom tool only once the calls before it are settled', async () => {
  const config = { type: 'custom_tool', description: '', input_schema: { type: 'object' } } as const;
  const custom = (name: string, type: 'always_allow' | 'always_ask') => {
    return { ...config, name, permissionPolicy: { type } } satisfies ToolConfig;
  };
  const configs = [custom('lookup', 'always_allow'), custom('order', 'always_ask')];
  const { turn, deps, actions } = openTurn({ configs });
  const calls = step(
    buildCall('lookup', '1'),
    buildCall('lookup', '2', 1),
    buildCall('order', '3', 2),
    buildCall('lookup', '4', 3),
  );
  expect(await settleCalls(calls, turn, deps)).toBe('waiting');
  expect(actions.map(({ type, toolUseId }) => [type, toolUseId])).toEqual([
    ['agent.custom_tool_use', 'evt_use_1'],
    ['agent.custom_tool_use', 'evt_use_2'],
    ['agent.approval_request', 'evt_use_3'],
  ]);
});
