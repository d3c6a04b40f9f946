import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxSession } from '../../../src/sandbox/sandbox.ts';
import { NEVER } from '../../support/sandbox.ts';

const isArm = process.arch === 'arm64';
const SOCKETS = {
  abstract: `capstan-escape-${process.pid}`,
  path: join(tmpdir(), `capstan-escape-${process.pid}.sock`),
};

const connect = (family: string, address: string): string =>
  `python3 -c "import socket; socket.socket(${family}).connect(${address})" && echo ESCAPED`;

/** Each prints ESCAPED when it reaches the host or another sandbox. Run by a command with all that an agent may do. */
export const ATTEMPTS: readonly [name: string, command: string][] = [
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
  ['the log of the kernel', 'dmesg && echo ESCAPED; ls /dev/kmsg && echo ESCAPED'],
  [
    'disks, memory and other devices',
    `ls /dev | grep -E '^(sd|vd|nvme|loop|dm-|mem$|port$|kvm|fuse|net$|input|snd)' && echo ESCAPED`,
  ],
  [
    'the release agent of control groups',
    'for file in /sys/fs/cgroup/release_agent /sys/fs/cgroup/*/release_agent /proc/1/root/sys/fs/cgroup/release_agent; do (echo /workspace/x > $file) && echo ESCAPED; done; find / -name release_agent 2>/dev/null | grep . && echo ESCAPED',
  ],
  [
    'user namespaces, by system calls',
    `python3 -c "
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for flags in (0x10000000, 0x20000000, 0x40000000, 0x02000000):
  pid = libc.syscall(${isArm ? 220 : 56}, flags | 17, 0, 0, 0, 0)
  if pid == 0: os._exit(0)
  if pid > 0: print('ESCAPED', hex(flags))
"`,
  ],
  ['processes of others', `ls /proc | grep -cE '^[0-9]+$' | grep -qE '^[0-9]$|^1[0-9]$' || echo ESCAPED`],
  ['its server, by signals', `kill -0 ${process.pid} && echo ESCAPED; ls -d /proc/${process.pid} && echo ESCAPED`],
  ['abstract sockets of the host', connect('socket.AF_UNIX', `chr(0) + '${SOCKETS.abstract}'`)],
  [
    'sockets of the host by path',
    `ls -d ${SOCKETS.path} && echo ESCAPED; ${connect('socket.AF_UNIX', `'${SOCKETS.path}'`)}`,
  ],
  ['sockets of services', 'find /run /var/run /tmp -type s 2>/dev/null | grep . && echo ESCAPED'],
  [
    'files of its server by what is open',
    `for fd in /proc/self/fd/* /proc/$PPID/fd/*; do readlink "$fd"; done 2>/dev/null | grep -E 'volumes|capstan-test|/root|/home|master.key' && echo ESCAPED`,
  ],
  [
    'set-user-id programs of the machine',
    `find / -xdev -perm -4000 -type f 2>/dev/null | while read -r program; do [ "$(timeout 5 "$program" -c 'id -u' </dev/null 2>/dev/null | head -1)" = 0 ] && echo ESCAPED "$program"; done`,
  ],
];

/** Numbers on x86-64 of calls that the filter refuses. */
export const CALLS: readonly [name: string, number: number][] = [
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
  ['syslog', 103],
  ['acct', 163],
  ['swapon', 167],
  ['reboot', 169],
  ['quotactl', 179],
  ['fanotify_init', 300],
  ['kcmp', 312],
  ['open_tree', 428],
  ['move_mount', 429],
  ['fsopen', 430],
  ['pidfd_getfd', 438],
  ['mount_setattr', 442],
];

/** Whether the kernel, or the filter, has refused a call of `CALLS`. */
export const isRefused = (output: string): boolean => /^-1 (?:1|38)\n$/.test(output);

export function buildCall(number: number): string {
  const code = `import ctypes; c = ctypes.CDLL(None, use_errno=True); r = c.syscall(${number}, 0xdeadbeef, 0, 0, 0, 0); print(r, ctypes.get_errno())`;
  return `python3 -c '${code}'`;
}

export async function runAttempt(sandbox: SandboxSession, command: string): Promise<string> {
  return (await sandbox.run({ callId: randomUUID(), command, timeoutMs: 60_000 }, NEVER)).output;
}

/** Sockets of the host that no sandbox may reach. */
export async function openHostSockets(): Promise<{ countReached(): number; close(): void }> {
  let reached = 0;
  const servers = [`\0${SOCKETS.abstract}`, SOCKETS.path].map((path) => {
    const server = createServer((socket) => {
      reached += 1;
      socket.destroy();
    });
    return { server, listening: new Promise<void>((resolve) => server.listen(path, resolve)) };
  });
  await Promise.all(servers.map(({ listening }) => listening));
  return {
    countReached: () => reached,
    close() {
      for (const { server } of servers) server.close();
      rmSync(SOCKETS.path, { force: true });
    },
  };
}

const FAILURES = ['inside', 'ESCAPE', 'ENOENT', 'ENOTDIR', 'EINVAL'];

/**
 * Writes through a link that a command swaps in again and again, until it has led outside at least once. Returns what else
 * came of it than a write inside or a refusal.
 */
export async function raceLink(sandbox: SandboxSession): Promise<string[]> {
  await runAttempt(sandbox, 'mkdir real; ln -s real flip');
  const command = 'while :; do ln -sfn /tmp flip; ln -sfn real flip; done';
  const start = { callId: 'race', pty: false, notifyOnComplete: false, watchPatterns: [] };
  const loop = await sandbox.startProcess({ ...start, command });
  const codes = new Set<string>();
  for (let i = 0; i < 150 || !codes.has('ESCAPE'); i++) {
    const landed = sandbox.writeFile('flip/landed.txt', Buffer.from('x'));
    codes.add(
      await landed.then(
        () => 'inside',
        (error: { code: string }) => error.code,
      ),
    );
  }
  await sandbox.killProcess(loop.id);
  const isOutside = (await runAttempt(sandbox, 'ls /tmp')).includes('landed');
  return [...[...codes].filter((code) => !FAILURES.includes(code)), ...(isOutside ? ['landed outside'] : [])];
}
