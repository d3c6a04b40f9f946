import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { expect, test } from 'vitest';
import { openExecutorClient } from '../../src/sandbox/executor/client.ts';
import { makeScratch } from '../support/scratch.ts';

const MIB = 2 ** 20;

/** An executor whose workspace is a disk of 64 MiB. */
async function startOnDisk(volumeBytes: number) {
  const scratch = makeScratch('disk');
  const workspace = join(scratch, 'workspace');
  mkdirSync(workspace);
  const socket = join(scratch, 'socket');
  const flags = [
    ['--workspace', workspace, '--state-dir', join(scratch, 'state'), '--listen', `unix:${socket}`],
    ['--rg', rgPath, '--volume-bytes', String(volumeBytes), '--exit-on-stdin-eof'],
  ].flat();
  const script = `mount -t tmpfs -o size=64m none ${workspace} && exec "$@"`;
  const program = [process.execPath, 'sandbox-image/executor/main.ts', ...flags];
  const child = spawn('unshare', ['--map-root-user', '--mount', 'sh', '-c', script, 'sh', ...program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const client = openExecutorClient({ target: { socketPath: socket }, headers: () => ({}) }, workspace);
  return {
    client,
    close: async () => {
      client.close();
      child.stdin.end();
      await once(child, 'exit');
      rmSync(scratch, { recursive: true });
    },
  };
}

test('health reports the current disk usage of a volume, although commands wrote past the count', async () => {
  const { client, close } = await startOnDisk(4096 * MIB);
  const before = (await client.health()).usedBytes;
  expect(before).toBeLessThan(MIB);
  const command = 'head -c 40M /dev/zero > big';
  await client.run({ callId: 'one', command, timeoutMs: 60_000 }, new AbortController().signal);
  expect((await client.health()).usedBytes).toBeGreaterThanOrEqual(40 * MIB);
  await close();
});

test('on a disk larger than the volume may become only what is counted is told', async () => {
  const { client, close } = await startOnDisk(32 * MIB);
  expect((await client.health()).usedBytes).toBeUndefined();
  await expect.poll(async () => (await client.health()).usedBytes).toBe(0);
  await close();
});
