import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SandboxError } from '../../src/sandbox/sandbox.ts';
import type { SandboxSession } from '../../src/sandbox/sandbox.ts';
import { volumeFolder } from '../../src/sandbox/process/volumes.ts';
import { NEVER, newTarget, openLocalSandboxes } from '../support/sandbox.ts';
import type { LocalSandboxes } from '../support/sandbox.ts';
import { raceLink } from './escape/attempts.ts';

describe('limits of a command in a process sandbox', () => {
  const CANARY = `canary-${randomUUID()}`;
  let local: LocalSandboxes;
  let sandbox: SandboxSession;
  const other = newTarget({ subjectId: 'somebody else' });
  const run = async (command: string): Promise<string> =>
    (await sandbox.run({ callId: randomUUID(), command, timeoutMs: 60_000 }, NEVER)).output;

  beforeAll(async () => {
    process.env['CAPSTAN_TEST_SECRET'] = CANARY;
    local = await openLocalSandboxes();
    sandbox = await local.sandboxes.acquire(newTarget(), NEVER);
    await (await local.sandboxes.acquire(other, NEVER)).writeFile('mine.txt', Buffer.from(CANARY));
    writeFileSync(join(local.dir, 'master.key'), CANARY);
  });
  afterAll(async () => {
    delete process.env['CAPSTAN_TEST_SECRET'];
    await local.close();
  });

  test('files of the host, the data folder and other volumes', async () => {
    for (const path of [
      '/etc/shadow',
      '/root',
      local.dir,
      volumeFolder(local.dir, other),
      process.cwd(),
      '/proc/1/root/etc/shadow',
    ]) {
      expect(await run(`ls -d ${path} 2>&1; cat ${path} 2>&1`)).toMatch(/No such file|Permission denied/);
    }
    expect(await run('ls -A /home /mnt /srv /root 2>/dev/null')).toBe('/home:\n');
    expect(
      await run(
        `grep -rls '[c]${CANARY.slice(1)}' / --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr --exclude-dir=lib 2>/dev/null; echo done`,
      ),
    ).toBe('done\n');
  });

  test('anything but the workspace and /tmp for writing', async () => {
    for (const path of [
      '/x',
      '/etc/x',
      '/usr/x',
      '/opt/capstan/x',
      '/opt/capstan/bin/node',
      '/etc/passwd',
      '/home/../x',
    ]) {
      expect(await run(`(echo x > ${path}) 2>&1`)).toMatch(/Read-only|denied|busy/);
    }
    expect(await run('echo x > /workspace/x && echo y > /tmp/y && echo fine')).toBe('fine\n');
  });

  test('servers on the loopback of the host', async () => {
    let reached = 0;
    const server = createServer((socket) => {
      reached += 1;
      socket.end('secret');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const connect = `(exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3) 2>&1; echo $?`;
    expect(await run(connect)).toMatch(/refused|unreachable/);
    expect(reached).toBe(0);
    // the same command reaches it if the network is the host's: the check can fail
    const open = await openLocalSandboxes({ network: 'host' });
    const outside = await open.sandboxes.acquire(newTarget(), NEVER);
    expect((await outside.run({ callId: '1', command: connect, timeoutMs: 60_000 }, NEVER)).output).toContain('secret');
    await open.close();
    server.close();
  });

  test('processes and environment of the host', async () => {
    const pids = (await run('ls /proc | grep -E "^[0-9]+$"')).trim().split('\n').map(Number);
    expect(pids.length).toBeLessThan(12);
    expect(Math.max(...pids)).toBeLessThan(1000);
    const environments = await run('env; cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n"');
    expect(environments).toContain('HOME=/workspace');
    expect(environments).not.toContain(CANARY);
    expect(environments).not.toMatch(/KEY|SECRET|TOKEN|PASSWORD/i);
  });

  test('more processes than it may have', async () => {
    const crowded = await local.sandboxes.acquire(newTarget(), NEVER);
    const start = { callId: 'crowd', pty: false, notifyOnComplete: false, watchPatterns: [] };
    const crowd = await crowded.startProcess({
      ...start,
      command: 'for i in $(seq 900); do sleep 300 & done 2>/dev/null; echo started; wait',
    });
    const count = async (): Promise<number> => {
      const command = 'set -- /proc/[0-9]*; echo $#';
      return Number((await crowded.run({ callId: randomUUID(), command, timeoutMs: 60_000 }, NEVER)).output);
    };
    // The kernel's limit rejects forks, or the executor kills excess processes.
    await expect
      .poll(async () => {
        const list = await crowded.listProcesses();
        const { output } = (await crowded.processOutput(crowd.id)) ?? { output: '' };
        if (list.find(({ id }) => id === crowd.id)?.status !== 'running') return true;
        return /started|retry|unavailable/.test(output) || (await count().catch(() => 512)) > 400;
      })
      .toBe(true);
    await crowded.killProcess(crowd.id);
    await expect.poll(count).toBeLessThan(540);
  });

  test('its executor, by signals, memory or descriptors', async () => {
    const attempts = [
      'for pid in 1 2 -1 -2 $PPID; do kill -9 $pid; kill -STOP $pid; kill -USR1 $pid; done',
      'for task in /proc/2/task/*; do kill -9 ${task##*/}; done',
      "python3 -c 'import os,signal; signal.pidfd_send_signal(os.pidfd_open(2), 9)'",
      'head -c1 /proc/2/mem; cat /proc/2/environ /proc/2/maps; ls /proc/2/fd; readlink /proc/2/root',
      '(exec 3<>/dev/tcp/127.0.0.1/9229)',
    ];
    for (const attempt of attempts) expect(await run(`(${attempt}) 2>&1; echo over`)).toMatch(/over\n$/);
    expect(await run('ls -l /proc/2/fd 2>&1')).toContain('Permission denied');
    expect(await run('sleep 300 & kill $!; wait $!; echo $?')).toBe('143\n');
  });

  test('privileges', async () => {
    expect(await run('grep -E "^Cap(Prm|Eff|Bnd)" /proc/self/status | awk \'{print $2}\' | sort -u')).toBe(
      '0000000000000000\n',
    );
    expect(await run('id -u')).toBe('1000\n');
    expect(await run('unshare -U true 2>&1')).toMatch(/failed/);
    expect(await run('mount -t tmpfs none /tmp 2>&1')).toMatch(/denied|must be superuser|permitted/);
    expect(await run('grep NoNewPrivs /proc/self/status')).toContain('1');
  });

  test('a socket of the host, by a link in place of the executor’s own', async () => {
    let reached = 0;
    const folder = mkdtempSync(join(tmpdir(), 'capstan-host-'));
    const server = createServer((socket) => {
      reached += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(join(folder, 's'), resolve));
    await run(`ln -sf ${folder}/s /run/capstan/executor.sock`);
    expect(await run('echo still me')).toBe('still me\n');
    expect(reached).toBe(0);
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('a link swapped in again and again never leads a write outside', async () => {
    expect(await raceLink(await local.sandboxes.acquire(newTarget(), NEVER))).toEqual([]);
  });
});

describe('starting a process sandbox', () => {
  test('fails without bubblewrap, with a hint', async () => {
    const local = await openLocalSandboxes({ bwrapPlaces: ['/nowhere'] });
    await expect(local.sandboxes.acquire(newTarget(), NEVER)).rejects.toMatchObject({
      name: 'SandboxError',
      message: expect.stringMatching(
        /bubblewrap.*apt-get install.*CAPSTAN_SANDBOX_UNWRAPPED=i-accept-the-risk/,
      ) as string,
    });
    await local.close();
  });

  test.runIf(process.getuid?.() === 0)(
    'is refused without bubblewrap to root, even when the risk is accepted',
    async () => {
      await expect(openLocalSandboxes({ bwrapPlaces: ['/nowhere'], allowUnwrapped: true })).rejects.toThrow(
        /Start Capstan as an ordinary user/,
      );
    },
  );

  test.skipIf(process.getuid?.() === 0)('goes without bubblewrap when the risk is accepted', async () => {
    const local = await openLocalSandboxes({ bwrapPlaces: ['/nowhere'], allowUnwrapped: true });
    const sandbox = await local.sandboxes.acquire(newTarget(), NEVER);
    const result = await sandbox.run({ callId: '1', command: 'pwd; echo x > f', timeoutMs: 60_000 }, NEVER);
    expect(result.output).toBe(`${sandbox.workspace}\n`);
    expect(Buffer.from((await sandbox.readFile('/workspace/f')).bytes).toString()).toBe('x\n');
    await expect(sandbox.readFile('/etc/passwd')).rejects.toMatchObject({ code: 'ESCAPE' });
    await local.close();
  });

  test('an idle sandbox stops and comes back', async () => {
    const local = await openLocalSandboxes({ idleMs: 50 });
    const target = newTarget();
    const first = await local.sandboxes.acquire(target, NEVER);
    await first.writeFile('f', Buffer.from('kept'));
    await expect
      .poll(
        () =>
          first.stat('f').then(
            () => 'running',
            (error: unknown) => error instanceof SandboxError,
          ),
        { interval: 300 },
      )
      .toBe(true);
    expect(await (await local.sandboxes.acquire(target, NEVER)).stat('f')).toMatchObject({ sizeBytes: 4 });
    await local.close();
  });

  test('subjects with odd names have volumes of their own, inside the folder', () => {
    const key = { organizationId: 'org', agentId: 'agt' };
    const folders = ['a', '../a', 'A/b', '..', '.', 'a\0', 'ä', 'x'.repeat(500)].map((subjectId) =>
      volumeFolder('/data', { ...key, subjectId }),
    );
    expect(new Set(folders).size).toBe(folders.length);
    for (const folder of folders) expect(folder).toMatch(/^\/data\/org\/agt\/[A-Za-z0-9_~-]{1,64}$/);
  });
});
