import { expect, it } from 'vitest';
import { runTurn } from '../../../../src/agents/loop/turn/turn.ts';
import { DrainError, InterruptedError, LeaseLostError } from '../../../../src/agents/loop/turn/types.ts';
import { askAlways, buildRecordingTool, openTurn, typesOf } from '../turn-deps.ts';

it('ends with the reply, its usage, and the lease released in the same write', async () => {
  const { turn, deps, events, changes } = openTurn({ prompt: 'Hello' });
  expect(await runTurn(turn, deps)).toBe('ended');
  expect(typesOf(events.slice(2))).toEqual(['agent.message', 'session.status_idle']);
  expect(events.at(-1)?.payload).toMatchObject({ stop_reason: { type: 'end_turn' }, usage: { calls: 1 } });
  expect(changes).toHaveLength(1);
  expect(changes[0]).toMatchObject({
    turn: { id: turn.id, state: 'ended', steps: 1, step: null },
    session: { status: 'idle', liveTurn: null, wakeAt: null, release: true },
    inbound: { sequences: [1], status: 'processed' },
  });
});

it('ends with an error that callers may read, and consumes its prompt', async () => {
  const { turn, deps, events, changes } = openTurn({ prompt: 'fail: no such thing' });
  expect(await runTurn(turn, deps)).toBe('ended');
  expect(events.at(-1)?.payload).toMatchObject({ stop_reason: { type: 'error', message: 'no such thing' } });
  expect(changes.at(-1)?.inbound?.sequences).toEqual([1]);
});

it('hides the cause of an unexpected failure from callers, and logs it', async () => {
  const { turn, deps, events, errors } = openTurn();
  const failure = new Error('secret detail');
  const broken = {
    ...deps,
    readPermissions: () => Promise.reject(failure),
    mcp: { ...deps.mcp, listTools: () => Promise.reject(failure) },
  };
  expect(await runTurn(turn, broken)).toBe('ended');
  expect(JSON.stringify(events)).not.toContain('secret detail');
  expect(errors).toEqual([failure]);
});

it('waits for the caller, and continues from the journal once there is an answer', async () => {
  const terminal = buildRecordingTool('terminal');
  const { turn, deps, events, changes, actions } = openTurn({
    prompt: 'call terminal {"id":"1"}',
    tools: [terminal.tool],
    configs: [askAlways],
  });
  expect(await runTurn(turn, deps)).toBe('waiting');
  expect(typesOf(events.slice(2))).toEqual(['agent.approval_request', 'session.status_idle']);
  expect(changes.at(-1)).toMatchObject({
    turn: { state: 'waiting' },
    session: { status: 'waiting_on_human', release: true },
  });
  expect(terminal.inputs).toEqual([]);

  actions.forEach((action) => Object.assign(action, { state: 'answered', answer: { result: 'allow' } }));
  const next = { ...turn, unwritten: [], consumed: [], step: changes.at(-1)?.turn?.step ?? null };
  expect(await runTurn(next, deps)).toBe('ended');
  expect(terminal.inputs).toEqual([{ id: '1' }]);
  expect(typesOf(events).slice(4)).toEqual([
    'agent.tool_use',
    'agent.tool_result',
    'agent.message',
    'session.status_idle',
  ]);
});

it('ends an interrupted turn with a result for the call that was running', async () => {
  const started = Promise.withResolvers<void>();
  const terminal = buildRecordingTool('terminal', (signal) => {
    started.resolve();
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('killed'))));
  });
  const { turn, deps, events, abort } = openTurn({ prompt: 'call terminal {"id":"1"}', tools: [terminal.tool] });
  const end = runTurn(turn, deps);
  await started.promise;
  abort.abort(new InterruptedError('Interrupted by the caller.'));
  expect(await end).toBe('ended');
  expect(typesOf(events).slice(2)).toEqual(['agent.tool_use', 'agent.tool_result', 'session.status_idle']);
  expect(events.at(-2)?.payload).toMatchObject({
    is_error: true,
    content: [{ text: '{"error":"Interrupted by the user."}' }],
  });
  expect(events.at(-1)?.payload).toMatchObject({ interrupted: true });
});

it('writes nothing more when the lease is lost', async () => {
  const { turn, deps, changes, abort } = openTurn();
  abort.abort(new LeaseLostError('Claimed elsewhere.'));
  await expect(runTurn(turn, deps)).rejects.toThrow(LeaseLostError);
  expect(changes).toEqual([]);
});

it('stores a reply whose calls have not started when the worker drains', async () => {
  const terminal = buildRecordingTool('terminal');
  const { turn, deps, events, changes, drain } = openTurn({
    prompt: 'think: first\ncall terminal {"id":"1"}',
    tools: [terminal.tool],
  });
  const sendLive = () => drain.abort(new DrainError('shutting down'));
  await expect(runTurn(turn, { ...deps, sendLive })).rejects.toThrow(DrainError);
  expect(typesOf(events.slice(2))).toEqual(['agent.thinking']);
  expect(terminal.inputs).toEqual([]);

  const next = { ...turn, unwritten: [], consumed: [], step: changes.at(-1)?.turn?.step ?? null };
  const { drain: _drain, ...nextDeps } = deps;
  expect(await runTurn(next, nextDeps)).toBe('ended');
  expect(terminal.inputs).toEqual([{ id: '1' }]);
});
