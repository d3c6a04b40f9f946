import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openControlGroups } from '../../../src/sandbox/process/control-groups.ts';
import { decideLimits } from '../../../src/sandbox/process/limits.ts';
import { findDescendants, listProcesses } from '../../../src/sandbox/process/process-table.ts';
import { SandboxCapacityError } from '../../../src/sandbox/sandbox.ts';
import type { SandboxSession, SandboxTarget } from '../../../src/sandbox/sandbox.ts';
import { NEVER, newTarget, openLocalSandboxes } from '../../support/sandbox.ts';
import type { LocalSandboxes } from '../../support/sandbox.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

const run = (sandbox: SandboxSession, command: string) =>
  sandbox.run({ callId: randomUUID(), command, timeoutMs: 60_000 }, NEVER);

test('the defaults are a share of the machine', () => {
  expect(decideLimits({}, 24 * GIB)).toEqual({
    maxLive: 96,
    memoryBytes: GIB,
    processes: 512,
    tmpBytes: GIB / 2,
  });
  expect(decideLimits({}, GIB / 2)).toMatchObject({ maxLive: 4, memoryBytes: 256 * MIB });
  expect(decideLimits({ maxLive: 7, memoryMiB: 300, processes: 99, tmpMiB: 20 }, 24 * GIB)).toEqual({
    maxLive: 7,
    memoryBytes: 300 * MIB,
    processes: 99,
    tmpBytes: 20 * MIB,
  });
});

describe('as many sandboxes as may run', () => {
  let local: LocalSandboxes;
  const open = async (target: SandboxTarget) => local.sandboxes.acquire(target, NEVER);
  const isSame = async (sandbox: SandboxSession): Promise<boolean> =>
    run(sandbox, 'true').then(
      () => true,
      () => false,
    );

  test('make room for another by ending the one that is idle for longest', async () => {
    local = await openLocalSandboxes({ limits: { maxLive: 2 } });
    const first = await open(newTarget());
    await run(first, 'true');
    const second = await open(newTarget());
    await run(second, 'true');
    const third = await open(newTarget());
    expect((await run(third, 'echo third')).output).toBe('third\n');
    expect(await isSame(first)).toBe(false);
    expect(await isSame(second)).toBe(true);
    await local.close();
  });

  test('keep those with background processes, and a caller waits a bounded time', async () => {
    local = await openLocalSandboxes({ limits: { maxLive: 2 }, liveWaitMs: 1500 });
    const first = await open(newTarget());
    const start = { callId: 'one', command: 'sleep 300', pty: false, notifyOnComplete: false, watchPatterns: [] };
    const { id } = await first.startProcess(start);
    const second = await open(newTarget());
    const busy = run(second, 'while [ ! -e go ]; do sleep 0.05; done');
    const refused = open(newTarget());
    await expect(refused).rejects.toThrow(SandboxCapacityError);
    await expect(refused).rejects.toMatchObject({ retryable: true, message: expect.stringContaining('maxLive') });
    await first.killProcess(id);
    const third = await open(newTarget());
    expect((await run(third, 'echo third')).output).toBe('third\n');
    await second.writeFile('go', Buffer.from(''));
    expect((await busy).exitCode).toBe(0);
    await local.close();
  });

  test('are shared by sessions that come at once', async () => {
    local = await openLocalSandboxes({ limits: { maxLive: 3 } });
    const targets = Array.from({ length: 9 }, () => newTarget());
    const outputs = await Promise.all(
      targets.map(async (target) => (await run(await open(target), 'echo done')).output.trim()),
    );
    expect(outputs).toEqual(targets.map(() => 'done'));
    await local.close();
  });
});

test('an executor that stands still is given up after the time limit of the call, and replaced', async () => {
  const local = await openLocalSandboxes();
  const target = newTarget();
  const sandbox = await local.sandboxes.acquire(target, NEVER);
  await run(sandbox, 'true');
  const own = findDescendants(listProcesses(), process.pid).map(({ pid }) => pid);
  const executors = own.filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('/opt/capstan/executor'),
  );
  expect(executors.length).toBeGreaterThan(0);
  for (const pid of executors) process.kill(pid, 'SIGSTOP');
  const call = sandbox.run({ callId: 'still', command: 'true', timeoutMs: 100 }, NEVER);
  await expect(call).rejects.toThrow(/did not answer in time/);
  const again = await local.sandboxes.acquire(target, NEVER);
  expect((await run(again, 'echo back')).output).toBe('back\n');
  await local.close();
});

const HOG = `python3 -c 'x = []
while True: x.append(bytearray(b"x" * 4194304))'; echo "exit $?"`;

const groups = openControlGroups({ memoryBytes: GIB, processes: 512 });

describe.runIf(groups !== undefined)('with control groups', () => {
  let local: LocalSandboxes;
  beforeAll(async () => {
    local = await openLocalSandboxes({ limits: { memoryMiB: 256, processes: 128 } });
  });
  afterAll(() => local.close());

  test('a command that takes too much memory is killed, and the model learns why', async () => {
    const sandbox = await local.sandboxes.acquire(newTarget(), NEVER);
    const { output } = await run(sandbox, HOG);
    expect(output).toContain('exit 137');
    expect(output).toContain('Out of memory: the sandbox may use 256 MiB');
    expect((await run(sandbox, 'echo still here')).output).toBe('still here\n');
  });

  test('files in memory count', async () => {
    const sandbox = await local.sandboxes.acquire(newTarget(), NEVER);
    await run(sandbox, 'head -c 300M /dev/zero > /tmp/big; head -c 300M /dev/zero > /dev/shm/big');
    const { output } = await run(sandbox, 'du -scm /tmp /dev/shm | tail -1');
    expect(Number.parseInt(output, 10)).toBeLessThan(256);
  });

  test('a fork bomb meets the limit and leaves the executor alone', async () => {
    const sandbox = await local.sandboxes.acquire(newTarget(), NEVER);
    const { output } = await run(sandbox, 'for i in $(seq 400); do sleep 300 >/dev/null 2>&1 & done 2>&1 | tail -1');
    expect(output).toMatch(/Resource temporarily unavailable|retry/);
    expect((await run(sandbox, 'pkill sleep; echo still here')).output).toContain('still here');
  });

  test('groups are gone when their sandbox is, and stale ones at the next start', async () => {
    const folder = `/sys/fs/cgroup/pids${readFileSync('/proc/self/cgroup', 'utf8').match(/^\d+:pids:(.*)$/m)?.[1] ?? ''}`;
    const list = () => readdirSync(folder).filter((name) => name.startsWith(`capstan-${process.pid}-`));
    const target = newTarget();
    const before = new Set(list());
    await run(await local.sandboxes.acquire(target, NEVER), 'true');
    const own = list().filter((name) => !before.has(name));
    expect(own).toHaveLength(1);
    await local.sandboxes.remove(target);
    await expect.poll(() => list().filter((name) => own.includes(name))).toEqual([]);
    const dead = execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }).trim();
    execFileSync('mkdir', [`${folder}/capstan-${dead}-1`]);
    openControlGroups({ memoryBytes: GIB, processes: 512 });
    expect(existsSync(`${folder}/capstan-${dead}-1`)).toBe(false);
  });

  test('a process that a killed server left in a group is ended at the next start', async () => {
    const folder = `/sys/fs/cgroup/pids${readFileSync('/proc/self/cgroup', 'utf8').match(/^\d+:pids:(.*)$/m)?.[1] ?? ''}`;
    const dead = execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }).trim();
    const group = `${folder}/capstan-${dead}-2`;
    mkdirSync(group);
    const left = spawn('sleep', ['infinity'], { stdio: 'ignore' });
    writeFileSync(`${group}/cgroup.procs`, String(left.pid));
    const ended = once(left, 'exit');
    openControlGroups({ memoryBytes: GIB, processes: 512 });
    expect(await ended).toEqual([null, 'SIGKILL']);
    await expect.poll(() => existsSync(group)).toBe(false);
  });
});

describe('without control groups', () => {
  let local: LocalSandboxes;
  beforeAll(async () => {
    local = await openLocalSandboxes({ controlGroups: false, limits: { memoryMiB: 256, processes: 128 } });
  });
  afterAll(() => local.close());

  test('a sandbox that takes too much memory is stopped with the reason', async () => {
    const sandbox = await local.sandboxes.acquire(newTarget(), NEVER);
    await expect(run(sandbox, HOG)).rejects.toThrow(/out of memory, it used more than 256 MiB/);
  });

  test('a sandbox with too many processes is ended or held back', async () => {
    const target = newTarget();
    const sandbox = await local.sandboxes.acquire(target, NEVER);
    await run(sandbox, 'for i in $(seq 400); do sleep 300 & done; sleep 3').catch(() => undefined);
    const again = await local.sandboxes.acquire(target, NEVER);
    await expect.poll(async () => Number((await run(again, 'set -- /proc/[0-9]*; echo $#')).output)).toBeLessThan(140);
  });
});

describe('a volume', () => {
  let local: LocalSandboxes;
  const maxVolumeBytes = 64 * MIB;
  beforeAll(async () => {
    local = await openLocalSandboxes({ maxVolumeBytes, initialVolumeBytes: maxVolumeBytes });
  });
  afterAll(() => local.close());
  const used = async (target: SandboxTarget): Promise<number> =>
    (await local.sandboxes.describeVolume(target))?.usedBytes ?? Infinity;

  test('takes no file that is larger than it', async () => {
    const target = newTarget();
    const sandbox = await local.sandboxes.acquire(target, NEVER);
    const { output, exitCode } = await run(sandbox, 'fallocate -l 6G /workspace/big 2>&1; ls -s /workspace');
    expect(output).toMatch(/too large|File size limit/);
    expect(exitCode).toBe(0);
    expect(await used(target)).toBeLessThanOrEqual(maxVolumeBytes);
  });

  test('is not overfilled by many files: the sandbox ends with the reason', async () => {
    const target = newTarget();
    const sandbox = await local.sandboxes.acquire(target, NEVER);
    const fill = 'for i in $(seq 400); do fallocate -l 20M /workspace/$i; sleep 0.1; done';
    await expect(run(sandbox, fill)).rejects.toThrow(/its files are larger than the 64 MiB of its volume/);
    const again = await local.sandboxes.acquire(target, NEVER);
    expect((await run(again, 'rm -f /workspace/*; echo removed')).output).toBe('removed\n');
    expect(await used(target)).toBeLessThan(MIB);
  });

  test('is not overfilled by files that are deleted and still open', async () => {
    const target = newTarget();
    const sandbox = await local.sandboxes.acquire(target, NEVER);
    const fill =
      'for i in $(seq 10 200); do eval "exec $i>/workspace/x"; rm x; fallocate -l 20M /proc/self/fd/$i; sleep 0.1; done';
    await expect(run(sandbox, fill)).rejects.toThrow(/its files are larger/);
  });
});
