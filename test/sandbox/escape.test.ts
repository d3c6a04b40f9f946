import { execFile, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { volumeFolder } from '../../src/sandbox/process/volumes.ts';
import type { SandboxSession } from '../../src/sandbox/sandbox.ts';
import { runAsUser } from '../support/restricted-user.ts';
import { NEVER, newTarget, openLocalSandboxes } from '../support/sandbox.ts';
import type { LocalSandboxes } from '../support/sandbox.ts';
import type { EscapeReport } from './escape/as-user.ts';
import { ATTEMPTS, CALLS, buildCall, isRefused, openHostSockets, runAttempt } from './escape/attempts.ts';

const isRoot = process.getuid?.() === 0;

describe('a command that tries to leave its sandbox', () => {
  let local: LocalSandboxes;
  let sandbox: SandboxSession;
  const target = newTarget();
  let sockets: Awaited<ReturnType<typeof openHostSockets>>;
  const run = (command: string): Promise<string> => runAttempt(sandbox, command);

  beforeAll(async () => {
    local = await openLocalSandboxes();
    sandbox = await local.sandboxes.acquire(target, NEVER);
    sockets = await openHostSockets();
  });
  afterAll(async () => {
    sockets.close();
    await local.close();
  });

  test.each(ATTEMPTS)('does not reach %s', async (_, command) => {
    const before = statSync('/dev/null').mode;
    const pattern = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
    expect(await run(`(${command}) 2>&1; echo over`)).not.toContain('ESCAPED');
    expect(statSync('/dev/null').mode).toBe(before);
    expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).toBe(pattern);
    expect(sockets.countReached()).toBe(0);
  });

  test.runIf(process.arch === 'x64').each(CALLS)('may not call %s', async (_, number) => {
    expect(await run(buildCall(number))).toSatisfy(isRefused);
  });

  test('has a filter and no way to gain privileges', async () => {
    const status = await run('grep -E "^(Seccomp|NoNewPrivs|CapEff|CapBnd):" /proc/self/status | tr -s "\\t" " "');
    expect(status.split('\n').slice(0, 4).sort()).toEqual([
      'CapBnd: 0000000000000000',
      'CapEff: 0000000000000000',
      'NoNewPrivs: 1',
      'Seccomp: 2',
    ]);
  });

  test('fills no memory of the host beyond its own file systems', async () => {
    for (const place of ['/dev/shm', '/run/capstan', '/tmp']) {
      const size = Number(await run(`df --output=size -B1 ${place} | tail -1`));
      expect(size).toBeLessThanOrEqual(1024 ** 3);
    }
    for (const place of ['/', '/dev', '/home', '/opt', '/var', '/run', '/etc']) {
      expect(await run(`(echo x > ${place}/filled) 2>&1`)).toMatch(/Read-only|denied/);
    }
  });
});

describe.runIf(isRoot)('as root, a sandbox', () => {
  test('runs as an unprivileged user of its own, whom its volume belongs to', async () => {
    const local = await openLocalSandboxes();
    const targets = [newTarget(), newTarget()];
    const owners = new Set<number>();
    for (const target of targets) {
      const sandbox = await local.sandboxes.acquire(target, NEVER);
      await sandbox.writeFile('by-files', Buffer.from('x'));
      await sandbox.run({ callId: randomUUID(), command: 'touch by-command', timeoutMs: 60_000 }, NEVER);
      const volume = volumeFolder(local.dir, target);
      const { uid } = statSync(volume);
      expect(uid).toBeGreaterThanOrEqual(200_000);
      for (const name of ['by-files', 'by-command']) expect(statSync(join(volume, name)).uid).toBe(uid);
      owners.add(uid);
      expect(execFileSync('ps', ['-o', 'pid=', '-u', String(uid)], { encoding: 'utf8' }).trim()).not.toBe('');
    }
    expect(owners.size).toBe(2);
    await local.close();
  });

  test('takes over a volume that an older release left to root', async () => {
    const local = await openLocalSandboxes();
    const target = newTarget();
    const files = await local.sandboxes.openVolume(target, { create: true });
    expect(files).toBeDefined();
    await local.sandboxes.remove(target);
    const volume = volumeFolder(local.dir, target);
    writeFileSync(join(volume, 'old.txt'), 'old', { mode: 0o600 });
    chownSync(volume, 0, 0);
    await local.sandboxes.close();
    const again = await openLocalSandboxes({ dir: local.dir });
    const sandbox = await again.sandboxes.acquire(target, NEVER);
    const { output } = await sandbox.run(
      { callId: randomUUID(), command: 'cat old.txt && echo new > old.txt && cat old.txt', timeoutMs: 60_000 },
      NEVER,
    );
    expect(output).toBe('oldnew\n');
    await again.close();
  });
});

describe.runIf(isRoot)('as an ordinary user, a server', () => {
  test('lets no command leave its sandbox either', async () => {
    const { uid, attempts, calls, race } = JSON.parse(
      await runAsUser(['test/sandbox/escape/as-user.ts']),
    ) as EscapeReport;
    expect(uid).not.toBe(0);
    expect(attempts.map(([name]) => name)).toEqual(ATTEMPTS.map(([name]) => name));
    expect(attempts.filter(([, output]) => output.includes('ESCAPED') || !output.endsWith('over\n'))).toEqual([]);
    expect(calls).toHaveLength(process.arch === 'x64' ? CALLS.length : 0);
    expect(calls.filter(([, output]) => !isRefused(output))).toEqual([]);
    expect(race).toEqual([]);
  });
});

test('a server that may make no user namespaces does not start, and says what to do', async () => {
  const options = ['--unshare-user', '--uid', '1000', '--gid', '1000', '--disable-userns', '--dev-bind', '/', '/'];
  const program = ['test/sandbox/escape/start.ts'];
  const start = async (setting: string) =>
    (await promisify(execFile)('bwrap', [...options, '--', process.execPath, ...program, setting])).stdout;
  const refusal = await start('');
  expect(refusal).toMatch(/^StartupError: Capstan cannot start sandboxes here \(bwrap: .+\)\./);
  expect(refusal).toContain('user.max_user_namespaces');
  expect(refusal).toContain('CAPSTAN_SANDBOX_UNWRAPPED=i-accept-the-risk');
  expect(await start('unwrapped')).toBe('started\n');
});
