import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OpenStep, StepCall } from '../../../../src/agents/log/event.ts';
import { settleCalls } from '../../../../src/agents/loop/tool-calls/settle.ts';
import { LeaseLostError } from '../../../../src/agents/loop/turn/types.ts';
import { terminalTool } from '../../../../src/agents/tools/terminal.ts';
import { writeFileTool } from '../../../../src/agents/tools/write-file.ts';
import type { SandboxSession, SandboxTarget } from '../../../../src/sandbox/sandbox.ts';
import { newTarget, openLocalSandboxes } from '../../../support/sandbox.ts';
import type { LocalSandboxes } from '../../../support/sandbox.ts';
import { openTurn } from '../turn-deps.ts';

const NEVER = new AbortController().signal;
const UNKNOWN = 'the outcome is unknown';
const tools = [terminalTool, writeFileTool];
const buildCall = (name: string, input: object): StepCall => {
  return { useId: `evt_${name}`, index: 0, callId: `call_${name}`, name, arguments: JSON.stringify(input) };
};
const command = buildCall('terminal', { command: 'echo once >> ledger' });
const write = buildCall('write_file', { path: 'note.txt', content: 'once' });

let local: LocalSandboxes;
beforeAll(async () => {
  local = await openLocalSandboxes();
});
afterAll(() => local.close());

/** Runs a call on a worker whose sandbox starts when `open` says so, up to the write of the use. */
async function loseWorker(call: StepCall) {
  const first = openTurn({ tools });
  const lost = new AbortController();
  let open: (sandbox: SandboxSession) => void = () => undefined;
  const opened = new Promise<SandboxSession>((resolve) => (open = resolve));
  const deps = { ...first.deps, openSandbox: () => opened, signal: lost.signal };
  const settled = settleCalls({ number: 1, calls: [call] }, first.turn, deps);
  await expect.poll(() => first.changes.length).toBe(1);
  return { first, target: newTarget(), lost, open, settled };
}

async function readFile(target: SandboxTarget, path: string): Promise<string> {
  const sandbox = await local.sandboxes.acquire(target, NEVER);
  return Buffer.from((await sandbox.readFile(path)).bytes).toString();
}

/** Takes over with the step that the first worker has stored, and returns the results. */
async function takeOver(first: ReturnType<typeof openTurn>, target: SandboxTarget): Promise<string> {
  const step = first.changes.findLast(({ turn }) => turn?.step !== undefined)?.turn?.step as OpenStep;
  const next = openTurn({ tools });
  next.events.push(...first.events.slice(next.events.length));
  const openSandbox = (signal: AbortSignal) => local.sandboxes.acquire(target, signal);
  await settleCalls(step, next.turn, { ...next.deps, openSandbox });
  expect(next.events.filter(({ type }) => type === 'agent.tool_use')).toHaveLength(1);
  return JSON.stringify(next.events.filter(({ type }) => type === 'agent.tool_result').map(({ payload }) => payload));
}

test.for([command, write])(
  'a call whose sandbox was not there when its worker was lost runs once: $name',
  async (call) => {
    const { first, target, lost, open, settled } = await loseWorker(call);
    expect(first.events.at(-1)?.type).toBe('agent.tool_use');
    lost.abort(new LeaseLostError('Claimed elsewhere.'));
    const text = await takeOver(first, target);
    expect(text).not.toContain(UNKNOWN);
    // What the lost worker still does about the call is refused, and it does not send it.
    first.deps.journal.append = () => Promise.reject(new LeaseLostError('Claimed elsewhere.'));
    open(await local.sandboxes.acquire(target, NEVER));
    await expect(settled).rejects.toBeInstanceOf(LeaseLostError);
    expect(await readFile(target, call === command ? 'ledger' : 'note.txt')).toBe(call === command ? 'once\n' : 'once');
  },
);

test('a worker that takes over stores that it sends the call, also where the sandbox is there at once', async () => {
  const { first, target, lost } = await loseWorker(command);
  lost.abort(new LeaseLostError('Claimed elsewhere.'));
  await local.sandboxes.acquire(target, NEVER);
  const step = first.changes.findLast(({ turn }) => turn?.step !== undefined)?.turn?.step as OpenStep;
  expect(step.unsent).toEqual([command.useId]);
  const next = openTurn({ tools });
  next.events.push(...first.events.slice(next.events.length));
  const openSandbox = (signal: AbortSignal) => local.sandboxes.acquire(target, signal);
  await settleCalls(step, next.turn, { ...next.deps, openSandbox });
  expect(next.changes[0]).toMatchObject({ events: [], turn: { step: { number: 1, calls: [command] } } });
  expect(next.changes[0]?.turn?.step).not.toHaveProperty('unsent');
});

test('a call that may have been sent is not repeated', async () => {
  const { first, target, open } = await loseWorker(write);
  // The process ends with the write that comes before the call.
  const append = first.deps.journal.append.bind(first.deps.journal);
  let onStored: () => void = () => undefined;
  const stored = new Promise<void>((resolve) => (onStored = resolve));
  first.deps.journal.append = async (change) => {
    await append(change);
    onStored();
    await new Promise(() => undefined);
  };
  open(await local.sandboxes.acquire(target, NEVER));
  await stored;
  expect(await takeOver(first, target)).toContain(UNKNOWN);
});

test('a call of a running sandbox costs no second write before it is sent', async () => {
  const { turn, deps, changes } = openTurn({ tools });
  const target = newTarget();
  await local.sandboxes.acquire(target, NEVER);
  const openSandbox = (signal: AbortSignal) => local.sandboxes.acquire(target, signal);
  await settleCalls({ number: 1, calls: [command] }, turn, { ...deps, openSandbox });
  expect(changes.map(({ events }) => events.map(({ payload }) => payload.type))).toEqual([
    ['agent.tool_use'],
    ['agent.tool_result'],
  ]);
});
