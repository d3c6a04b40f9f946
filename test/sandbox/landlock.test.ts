import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NEVER, newTarget, openLocalSandboxes } from '../support/sandbox.ts';

const FOLDER = new URL('../../sandbox-image/landlock/', import.meta.url).pathname;
const PROGRAM = join(FOLDER, process.arch === 'arm64' ? 'restrict.aarch64' : 'restrict.x86_64');

/** The kernel's version of Landlock, 0 without it: landlock_create_ruleset with LANDLOCK_CREATE_RULESET_VERSION. */
function readVersion(): number {
  const code = 'import ctypes; print(ctypes.CDLL(None).syscall(444, None, 0, 1))';
  return Math.max(0, Number(execFileSync('python3', ['-c', code], { encoding: 'utf8' })));
}

const version = readVersion();
const hasLandlock = version > 0;
const hasScopes = version >= 6;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'capstan-landlock-'));
  for (const name of ['open', 'closed']) mkdirSync(join(folder, name));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function restrict(folders: readonly string[], script: string): Promise<string[]> {
  const args = [...folders, '--', '/bin/sh', '-c', script];
  const { stdout } = await promisify(execFile)(PROGRAM, args, { cwd: folder, encoding: 'utf8' });
  return stdout.trim().split('\n');
}

/** Runs a script, and says of each line whether it succeeded. */
const judge = (folders: readonly string[], lines: readonly string[]) =>
  restrict(folders, lines.map((line) => `if (${line}) >/dev/null 2>&1; then echo yes; else echo no; fi`).join('\n'));

describe.runIf(hasLandlock)('a restricted command', () => {
  const open = () => [join(folder, 'open'), '/dev', join(folder, 'absent')];

  test('writes, moves and removes below its folders alone, and reads everywhere', async () => {
    const allowed = ['echo x >open/a', 'mv open/a open/b', 'mkdir open/d', 'mv open/b open/d/b', 'mkfifo open/p'];
    const harmless = ['ln -s a open/l', 'echo x >/dev/null', 'rm open/d/b', 'cat /etc/passwd', 'ls closed'];
    const refused = [
      'echo x >closed/a',
      'mkdir closed/d',
      'touch open/../closed/a',
      'mv open/l closed/l',
      'rmdir closed',
    ];
    expect(await judge(open(), [...allowed, ...harmless])).toEqual(Array(10).fill('yes'));
    expect(await judge(open(), refused)).toEqual(Array(5).fill('no'));
    expect(readdirSync(join(folder, 'closed'))).toEqual([]);
  });

  test('creates no device, whoever runs it', async () => {
    expect(await judge(open(), ['mknod open/disk b 254 0', 'mknod open/mem c 1 1'])).toEqual(['no', 'no']);
  });

  test.runIf(hasScopes)('signals no process beside those that it started', async () => {
    const own = 'sleep 60 & kill $!';
    expect(await judge(open(), [`kill -0 ${process.pid}`, own])).toEqual(['no', 'yes']);
  });
});

test('a command that is not there, and arguments that are none, have exit codes of their own', async () => {
  const run = promisify(execFile);
  await expect(run(PROGRAM, ['/tmp', '--', '/nowhere'])).rejects.toMatchObject({ code: 127 });
  for (const args of [[], ['/tmp'], ['/tmp', '--']]) {
    await expect(run(PROGRAM, args)).rejects.toMatchObject({ code: 126, stderr: expect.stringMatching(/^usage: /) });
  }
});

test.runIf(hasScopes)('a sandbox with the network of the host reaches no abstract socket of it', async () => {
  const name = `capstan-landlock-${process.pid}`;
  const server = createServer().listen(`\0${name}`);
  const local = await openLocalSandboxes({ network: 'host' });
  const sandbox = await local.sandboxes.acquire(newTarget(), NEVER);
  const connect = `python3 -c "import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + '${name}')" 2>&1; echo $?`;
  const { output } = await sandbox.run({ callId: randomUUID(), command: connect, timeoutMs: 60_000 }, NEVER);
  expect(output).toMatch(/PermissionError[^]*\n1\n$/);
  await local.close();
  server.close();
});

test('the programs are those of their source', () => {
  expect(() => execFileSync(join(FOLDER, 'build.sh'), ['--check'], { stdio: 'pipe' })).not.toThrow();
});
