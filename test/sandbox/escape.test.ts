import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { volumeFolder } from '../../src/sandbox/process/volumes.ts';
import type { SandboxSession } from '../../src/sandbox/sandbox.ts';
import { NEVER, newTarget, openLocalSandboxes } from '../support/sandbox.ts';
import type { LocalSandboxes } from '../support/sandbox.ts';

const isRoot = process.getuid?.() === 0;

/** Each prints ESCAPED when it reaches the host or another sandbox. Run by a command with all that an agent may do. */
const ATTEMPTS: readonly [name: string, command: string][] = [
  ['sysctl', 'echo 11 > /proc/sys/kernel/printk_ratelimit_burst && echo ESCAPED'],
  ['core pattern', '[ -w /proc/sys/kernel/core_pattern ] && echo ESCAPED'],
  [
    'core pattern, written',
    'v=$(cat /proc/sys/kernel/core_pattern); echo "$v" > /proc/sys/kernel/core_pattern && echo ESCAPED',
  ],
  ['modes of devices', 'chmod 0667 /dev/null && echo ESCAPED'],
  ['owners of devices', 'chown agent /dev/null && echo ESCAPED'],
  ['new devices', 'mknod /tmp/disk b 254 0 && echo ESCAPED; mknod /tmp/mem c 1 1 && echo ESCAPED'],
  ['kernel key rings', 'grep -q . /proc/keys && echo ESCAPED'],
  ['sysrq', 'echo h > /proc/sysrq-trigger && echo ESCAPED'],
  [
    'kernel symbols and memory',
    'head -c 1 /proc/kcore | grep -q . && echo ESCAPED; grep -q . /proc/kallsyms && echo ESCAPED',
  ],
  ['user namespaces', 'unshare -U true && echo ESCAPED; unshare -Ur mount -t tmpfs none /mnt && echo ESCAPED'],
  [
    'mounts',
    'mount -t tmpfs none /tmp && echo ESCAPED; mount -o remount,rw / && echo ESCAPED; umount /proc/sys && echo ESCAPED',
  ],
  [
    'control groups',
    'mkdir /tmp/cg; mount -t cgroup -o memory none /tmp/cg && echo ESCAPED; ls /sys/fs/cgroup && echo ESCAPED',
  ],
  [
    'set-user-id programs',
    'cp /bin/bash /workspace/b; chmod 4755 /workspace/b; [ "$(/workspace/b -p -c "id -u")" = 0 ] && echo ESCAPED; su -c true && echo ESCAPED',
  ],
  [
    'the host by its first process',
    'ls /proc/1/root/root && echo ESCAPED; tr "\\0" "\\n" </proc/1/environ | grep -vE "^(PATH=|PWD=/$|$)" && echo ESCAPED; nsenter -t 1 -m true && echo ESCAPED',
  ],
  ['paths of the host', 'tr "\\0" " " </proc/1/cmdline | grep -E "volumes|org_|agt_|/tmp/capstan" && echo ESCAPED'],
  [
    'its executor by ptrace',
    'python3 -c "import ctypes; print(ctypes.CDLL(None).ptrace(16, 2, 0, 0))" | grep -qx 0 && echo ESCAPED',
  ],
  [
    'raw and packet sockets',
    'python3 -c "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)" && echo ESCAPED; python3 -c "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)" && echo ESCAPED',
  ],
  ['vsock to the hypervisor', 'python3 -c "import socket; socket.socket(socket.AF_VSOCK)" && echo ESCAPED'],
  ['a real terminal of the host', '(echo x > /dev/tty) && echo ESCAPED; ls /dev/console && echo ESCAPED'],
  ['shared memory and queues', 'ipcs -m | grep -q agent && echo ESCAPED; ls /dev/mqueue && echo ESCAPED'],
  ['priorities', 'nice -n -5 true 2>&1 | grep -q cannot || echo ESCAPED; chrt -f 1 true && echo ESCAPED'],
  ['the clock', 'date -s 2001-01-01 && echo ESCAPED'],
  ['the host name', 'hostname capstan-escaped && echo ESCAPED'],
];

/** Numbers on x86-64 of calls that the filter refuses. */
const CALLS: readonly [name: string, number: number][] = [
  ['keyctl', 250],
  ['add_key', 248],
  ['request_key', 249],
  ['bpf', 321],
  ['userfaultfd', 323],
  ['io_uring_setup', 425],
  ['perf_event_open', 298],
  ['ptrace', 101],
  ['process_vm_readv', 310],
  ['mount', 165],
  ['pivot_root', 155],
  ['setns', 308],
  ['unshare', 272],
  ['kexec_load', 246],
  ['init_module', 175],
  ['open_by_handle_at', 304],
  ['personality', 135],
];

describe('a command that tries to leave its sandbox', () => {
  let local: LocalSandboxes;
  let sandbox: SandboxSession;
  const target = newTarget();
  const run = async (command: string): Promise<string> =>
    (await sandbox.run({ callId: randomUUID(), command, timeoutMs: 60_000 }, NEVER)).output;

  beforeAll(async () => {
    local = await openLocalSandboxes();
    sandbox = await local.sandboxes.acquire(target, NEVER);
  });
  afterAll(() => local.close());

  test.each(ATTEMPTS)('does not reach %s', async (_, command) => {
    const before = statSync('/dev/null').mode;
    const pattern = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
    expect(await run(`(${command}) 2>&1; echo over`)).not.toContain('ESCAPED');
    expect(statSync('/dev/null').mode).toBe(before);
    expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).toBe(pattern);
  });

  test.runIf(process.arch === 'x64').each(CALLS)('may not call %s', async (_, number) => {
    const code = `import ctypes; c = ctypes.CDLL(None, use_errno=True); r = c.syscall(${number}, 0xdeadbeef, 0, 0, 0, 0); print(r, ctypes.get_errno())`;
    expect(await run(`python3 -c '${code}'`)).toMatch(/^-1 (?:1|38)\n$/);
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
