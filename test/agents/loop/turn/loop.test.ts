import { expect, it } from 'vitest';
import { runLoop } from '../../../../src/agents/loop/turn/loop.ts';
import { buildRecordingTool, openTurn, typesOf } from '../turn-deps.ts';

it('alternates model calls and tool calls until the model makes no more calls', async () => {
  const { tool, inputs } = buildRecordingTool('read_file');
  const { turn, deps, events, requests } = openTurn({ prompt: 'call read_file {"id":"1"}', tools: [tool] });
  expect(await runLoop(turn, deps)).toEqual({ type: 'end_turn' });
  expect(inputs).toEqual([{ id: '1' }]);
  expect(requests).toHaveLength(2);
  expect(requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  expect(typesOf(events.slice(2))).toEqual(['agent.tool_use', 'agent.tool_result']);
  expect(turn).toMatchObject({ steps: 2, step: null, usage: { calls: 2 } });
});

it('stops at the limit of model calls', async () => {
  const { turn, deps } = openTurn();
  const end = await runLoop(turn, { ...deps, limits: { ...deps.limits, maxSteps: 0 } });
  const message = 'The turn reached its limit of 0 model calls.';
  expect(end).toEqual({ type: 'error', code: 'step_limit', message, retryable: false });
});

it('continues an open step without another model call', async () => {
  const { tool, inputs } = buildRecordingTool('read_file');
  const { turn, deps, requests } = openTurn({ tools: [tool] });
  const call = { useId: 'evt_use', index: 0, callId: 'call_1', name: 'read_file', arguments: '{"id":"2"}' };
  turn.steps = 1;
  turn.step = { number: 1, calls: [call] };
  await runLoop(turn, deps);
  expect(inputs).toEqual([{ id: '2' }]);
  expect(requests).toHaveLength(1);
});

it('throws the reason of its signal', async () => {
  const { turn, deps, abort, requests } = openTurn();
  abort.abort(new Error('The worker is shutting down.'));
  await expect(runLoop(turn, deps)).rejects.toThrow('shutting down');
  expect(requests).toEqual([]);
});
