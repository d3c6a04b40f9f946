import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { volumeFolder } from '../../../src/sandbox/process/volumes.ts';
import type { SandboxTarget } from '../../../src/sandbox/sandbox.ts';
import { listSandboxProcesses } from '../../support/sandbox-processes.ts';
import { NEVER, newTarget, openLocalSandboxes } from '../../support/sandbox.ts';
import type { LocalSandboxes } from '../../support/sandbox.ts';

let local: LocalSandboxes;

beforeAll(async () => {
  local = await openLocalSandboxes({ suspendMs: 200 });
});
afterAll(() => local.close());

async function run(target: SandboxTarget, command: string, shell?: string): Promise<string> {
  const session = await local.sandboxes.acquire(target, NEVER);
  const request = { callId: randomUUID(), command, timeoutMs: 20_000 };
  const { output } = await session.run(shell === undefined ? request : { ...request, shell }, NEVER);
  return output.trim();
}

const listProcesses = (target: SandboxTarget) => listSandboxProcesses(volumeFolder(local.dir, target));
async function waitSuspended(target: SandboxTarget): Promise<void> {
  await expect.poll(() => listProcesses(target), { timeout: 30_000 }).toEqual([]);
}

/** Idle sandboxes are checked in order: once a later one is suspended, the earlier ones have been checked. */
async function waitLookedAt(): Promise<void> {
  for (let round = 0; round < 2; round += 1) {
    const later = newTarget();
    await run(later, 'true');
    await waitSuspended(later);
  }
}

describe('an idle sandbox', () => {
  test('with nothing but its shells stops, and the session goes on where it was', async () => {
    const target = newTarget();
    await run(target, `mkdir -p /workspace/deep && cd /workspace/deep && export COLOUR="b l'ue"`);
    await run(target, 'cd / && export COLOUR=red', 'side');
    await waitSuspended(target);
    expect(await run(target, 'echo "$PWD $COLOUR"')).toBe(`/workspace/deep b l'ue`);
    expect(await run(target, 'echo "$PWD $COLOUR"', 'side')).toBe('/ red');
  });

  test('with a process, a file in memory or output to be read goes on', async () => {
    const [busy, writing, finished] = [newTarget(), newTarget(), newTarget()];
    await run(busy, 'setsid sleep 1000 >/dev/null 2>&1 & echo started');
    await run(writing, 'echo kept > /tmp/notes');
    const session = await local.sandboxes.acquire(finished, NEVER);
    const { id } = await session.startProcess({
      callId: randomUUID(),
      command: 'echo finished',
      pty: false,
      notifyOnComplete: false,
      watchPatterns: [],
    });
    await session.waitProcess(id, 20_000, NEVER);
    await waitLookedAt();
    expect(await run(busy, 'pgrep -c sleep')).toBe('1');
    expect(await run(writing, 'cat /tmp/notes')).toBe('kept');
    const output = await (await local.sandboxes.acquire(finished, NEVER)).processOutput(id);
    expect(output?.output.trim()).toBe('finished');
  });

  test.for([
    ['a link', 'ln -s /etc/passwd'],
    ['a pipe', 'mkfifo'],
    ['more than there may be', 'head -c 50000 /dev/zero >'],
  ])('whose command left %s in place of its state goes on', async ([, command]) => {
    const target = newTarget();
    await run(target, `trap - EXIT; rm -f "$CAPSTAN_STATE/cwd"; ${command} "$CAPSTAN_STATE/cwd"`);
    const processes = listProcesses(target);
    await waitLookedAt();
    expect(listProcesses(target)).toEqual(expect.arrayContaining(processes));
  });

  test('is forgotten with its volume', async () => {
    const target = newTarget({ agentId: 'agt_2' });
    await run(target, 'export COLOUR=red');
    await waitSuspended(target);
    await local.sandboxes.deleteVolumes(target);
    expect(await run(target, 'echo "$COLOUR"')).toBe('');
  });
});

describe('a sandbox that makes room for another one', () => {
  let small: LocalSandboxes;
  beforeAll(async () => {
    small = await openLocalSandboxes({ limits: { maxLive: 1 } });
  });
  afterAll(() => small.close());

  const runIn = async (target: SandboxTarget, command: string): Promise<string> => {
    const session = await small.sandboxes.acquire(target, NEVER);
    return (await session.run({ callId: randomUUID(), command, timeoutMs: 20_000 }, NEVER)).output.trim();
  };

  test('stops, and its session goes on where it was', async () => {
    const [first, second] = [newTarget(), newTarget()];
    await runIn(first, 'mkdir -p deep && cd deep && export COLOUR=blue');
    await runIn(second, 'export COLOUR=red');
    expect(listSandboxProcesses(volumeFolder(small.dir, first))).toEqual([]);
    expect(await runIn(first, 'echo "$PWD $COLOUR"')).toBe('/workspace/deep blue');
    expect(await runIn(second, 'echo "$PWD $COLOUR"')).toBe('/workspace red');
  });
});
