import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { StepCall } from '../../../../src/agents/log/event.ts';
import { buildUse } from '../../../../src/agents/log/build-events.ts';
import { settleCalls } from '../../../../src/agents/loop/tool-calls/settle.ts';
import { LeaseLostError } from '../../../../src/agents/loop/turn/types.ts';
import { terminalTool } from '../../../../src/agents/tools/terminal.ts';
import { openExecutorClient } from '../../../../src/sandbox/executor/client.ts';
import { SandboxError } from '../../../../src/sandbox/sandbox.ts';
import type { SandboxSession, SandboxTarget } from '../../../../src/sandbox/sandbox.ts';
import { makeScratch } from '../../../support/scratch.ts';
import { newTarget, openLocalSandboxes } from '../../../support/sandbox.ts';
import type { LocalSandboxes } from '../../../support/sandbox.ts';
import { openTurn } from '../turn-deps.ts';

const NEVER = new AbortController().signal;
const UNKNOWN = 'the outcome is unknown';
/** Has its side effect, then ends as soon as the file `go` exists. */
const COMMAND = 'echo once >> ledger; until [ -e go ]; do sleep 0.05; done; echo finished';
const call: StepCall = {
  useId: 'evt_use_1',
  index: 0,
  callId: 'call_1',
  name: 'terminal',
  arguments: JSON.stringify({ command: COMMAND }),
};

let local: LocalSandboxes;
let target: SandboxTarget;
let sandbox: SandboxSession;
beforeAll(async () => {
  local = await openLocalSandboxes();
});
afterAll(() => local.close());
beforeEach(async () => {
  target = newTarget();
  sandbox = await local.sandboxes.acquire(target, NEVER);
});

/** The state after the worker was lost: the use is in the log, and the executor may have the call. */
const start = (signal: AbortSignal = NEVER) =>
  sandbox.run({ callId: call.useId, command: COMMAND, timeoutMs: 180_000 }, signal);
const finish = () => sandbox.writeFile('go', Buffer.from(''));
const ledger = async () => {
  const current = await local.sandboxes.acquire(target, NEVER);
  if ((await current.stat('ledger')) === undefined) return '';
  return Buffer.from((await current.readFile('ledger')).bytes).toString();
};

/** The step as the next worker finds it, and the text of the result that it writes. */
async function takeOver(): Promise<string> {
  const { turn, deps, events } = openTurn({ tools: [terminalTool] });
  const use = buildUse({ turnId: turn.id, step: 1, call }, { toolset: 'terminal', input: {}, permission: 'allow' });
  await deps.journal.append({ events: [use] });
  const openSandbox = (signal: AbortSignal) => local.sandboxes.acquire(target, signal);
  await settleCalls({ number: 1, calls: [call] }, turn, { ...deps, openSandbox });
  expect(events.filter(({ type }) => type === 'agent.tool_use')).toHaveLength(1);
  return JSON.stringify(events.filter(({ type }) => type === 'agent.tool_result').map(({ payload }) => payload));
}

test('a worker that takes over gets the outcome of a call that has ended', async () => {
  await finish();
  await start();
  const text = await takeOver();
  expect(text).toContain('finished');
  expect(text).not.toContain(UNKNOWN);
  expect(await ledger()).toBe('once\n');
});

test('a worker that lost its lease leaves its call to the worker that takes over', async () => {
  const abort = new AbortController();
  const first = start(abort.signal);
  await expect.poll(ledger).toBe('once\n');
  abort.abort(new LeaseLostError('Claimed elsewhere.'));
  await expect(first).rejects.toBeInstanceOf(LeaseLostError);
  const taken = takeOver();
  await finish();
  const text = await taken;
  expect(text).toContain('finished');
  expect(text).not.toContain(UNKNOWN);
  expect(await ledger()).toBe('once\n');
});

test('a worker that takes over waits for a call that is running', async () => {
  const first = start();
  await expect.poll(ledger).toBe('once\n');
  const taken = takeOver();
  await finish();
  expect(await taken).toContain('finished');
  await first;
  expect(await ledger()).toBe('once\n');
});

test('the outcome is unknown where the sandbox is gone, and the call does not run again', async () => {
  await finish();
  await start();
  await local.sandboxes.remove(target);
  expect(await takeOver()).toContain(UNKNOWN);
  expect(await ledger()).toBe('once\n');
});

test('the outcome is unknown where the first worker has cancelled the call', async () => {
  const cancel = new AbortController();
  const first = start(cancel.signal);
  await expect.poll(ledger).toBe('once\n');
  const taken = takeOver();
  cancel.abort();
  await first;
  expect(await taken).toContain(UNKNOWN);
  expect(await ledger()).toBe('once\n');
});

test('a call whose sandbox did not start is not started', async () => {
  const { turn, deps, events } = openTurn({ tools: [terminalTool] });
  const openSandbox = () => Promise.reject(new SandboxError('the sandbox did not start: no room'));
  await settleCalls({ number: 1, calls: [call] }, turn, { ...deps, openSandbox });
  expect(JSON.stringify(events.at(-1)?.payload)).toContain('no room. The call was not started.');
});

test('a call that the executor never received is not started', async () => {
  const { turn, deps, events } = openTurn({ tools: [terminalTool] });
  const client = openExecutorClient({ target: { socketPath: '/nonexistent/executor.sock' } }, '/workspace');
  await settleCalls({ number: 1, calls: [call] }, turn, { ...deps, openSandbox: () => Promise.resolve(client) });
  client.close();
  expect(JSON.stringify(events.at(-1)?.payload)).toContain('cannot be reached. The call was not started.');
});

test('the outcome is unknown where the connection broke after the executor may have received the call', async () => {
  const socketPath = join(makeScratch('executor'), 'executor.sock');
  const server = createServer((socket) => {
    // The first connection breaks with the call on it, and the next one is refused.
    socket.once('data', () => {
      server.close();
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => void server.listen(socketPath, resolve));
  const { turn, deps, events } = openTurn({ tools: [terminalTool] });
  const client = openExecutorClient({ target: { socketPath } }, '/workspace');
  await settleCalls({ number: 1, calls: [call] }, turn, { ...deps, openSandbox: () => Promise.resolve(client) });
  client.close();
  const text = JSON.stringify(events.at(-1)?.payload);
  expect(text).toContain('The outcome is unknown.');
  expect(text).not.toContain('not started');
});
