import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandboxes } from '../../src/sandbox/sandbox.ts';
import { NEVER, newTarget, openLocalSandboxes } from '../support/sandbox.ts';

/** Every adapter of the port passes this suite. */
const adapters: { name: string; open: () => Promise<{ sandboxes: Sandboxes; close(): Promise<void> }> }[] = [
  { name: 'process', open: () => openLocalSandboxes() },
];

describe.each(adapters)('shells in sandboxes by $name', ({ open }) => {
  let opened: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened.close());

  it('a shell of another name begins as the session and then goes its own way', async () => {
    const own = await opened.sandboxes.acquire(newTarget(), NEVER);
    const go = (command: string, shell?: string) =>
      own.run({ callId: randomUUID(), command, timeoutMs: 60_000, ...(shell === undefined ? {} : { shell }) }, NEVER);
    await go('mkdir -p ours/theirs && cd ours && export WHOSE=ours');
    const look = 'echo "$PWD $WHOSE"';
    expect((await go(look, 'trd_1')).output).toBe(`${own.workspace}/ours ours\n`);
    const moved = await go('cd theirs && export WHOSE=theirs', 'trd_1');
    expect(moved.cwd).toBe(`${own.workspace}/ours/theirs`);
    expect((await go(look, 'trd_1')).output).toBe(`${own.workspace}/ours/theirs theirs\n`);
    expect((await go(look, 'trd_2')).output).toBe(`${own.workspace}/ours ours\n`);
    expect((await go(look)).output).toBe(`${own.workspace}/ours ours\n`);
    const watched = { pty: false, notifyOnComplete: false, watchPatterns: [] };
    const process = await own.startProcess({ callId: randomUUID(), command: 'true', shell: 'trd_1', ...watched });
    expect(process.cwd).toBe(`${own.workspace}/ours/theirs`);
    await expect(go(look, '../elsewhere')).rejects.toThrow('no such name');
  });
});
