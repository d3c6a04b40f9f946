import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SandboxError } from '../../src/sandbox/sandbox.ts';
import type { SandboxNotice, SandboxSession, Sandboxes } from '../../src/sandbox/sandbox.ts';
import { NEVER, newTarget } from './sandbox.ts';

/** An adapter of the port, ready for use. */
export type Opened = { sandboxes: Sandboxes; close(): Promise<void> };

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
const bytes = (value: string): Uint8Array => Buffer.from(value, 'utf8');

/** What every adapter of the port passes. */
export function describeSandboxes(name: string, open: () => Promise<Opened>): void {
  describe(`sandboxes by ${name}`, () => {
    let opened: Opened;
    let sandbox: SandboxSession;
    const run = (
      command: string,
      over: { callId?: string; timeoutMs?: number; stdin?: string; workdir?: string } = {},
      signal = NEVER,
    ) => sandbox.run({ callId: randomUUID(), command, timeoutMs: 60_000, ...over }, signal);

    beforeAll(async () => {
      opened = await open();
      // Hints, which change nothing but the time; no other session here has had any.
      for (const hint of ['announce', 'announce', 'prepare', 'prepare'] as const)
        await opened.sandboxes[hint](newTarget());
      sandbox = await opened.sandboxes.acquire(newTarget(), NEVER);
    });
    afterAll(() => opened.close());

    test('a command gives its output, errors among it in order, and its exit code', async () => {
      const result = await run('echo one; echo two >&2; echo three; exit 7');
      expect(result).toMatchObject({ output: 'one\ntwo\nthree\n', exitCode: 7, timedOut: false });
    });

    test('working directory and exported environment stay, the rest does not', async () => {
      await run('mkdir -p deep/er && cd deep && export KEPT="a b\n\'c" && lost=1');
      const result = await run('pwd; echo "$KEPT"; echo "[$lost]"');
      expect(result.output).toBe(`${sandbox.workspace}/deep\na b\n'c\n[]\n`);
      expect(result.cwd).toBe(`${sandbox.workspace}/deep`);
      expect((await run('pwd', { workdir: 'deep/er' })).output).toBe(`${sandbox.workspace}/deep/er\n`);
      await run(`cd ${sandbox.workspace}`);
    });

    test('a call sent twice runs once and gives the same outcome', async () => {
      const callId = randomUUID();
      const first = await run('echo x >> twice; wc -l < twice', { callId });
      expect(await run('echo x >> twice; wc -l < twice', { callId })).toEqual(first);
      expect((await run('wc -l < twice')).output).toBe('1\n');
    });

    test('two sendings of one call at once run it once', async () => {
      const callId = randomUUID();
      await Promise.all([1, 2, 3].map(() => run('sleep 0.2; echo x >> at-once', { callId })));
      expect((await run('wc -l < at-once')).output).toBe('1\n');
    });

    test('a timeout ends the whole tree, even processes that ignore the signal or left the group', async () => {
      const command = `trap '' TERM; (setsid bash -c 'trap "" TERM; exec -a straggler sleep 300' &) ; echo begun; sleep 300`;
      // Long enough for a shell to start on a busy machine.
      const result = await run(command, { timeoutMs: 2000 });
      expect(result).toMatchObject({ exitCode: 124, timedOut: true, output: 'begun\n' });
      const found = await run('grep -lz straggler /proc/[0-9]*/cmdline 2>/dev/null | grep -v self; true');
      expect(found.output).not.toMatch(/straggler/);
      const count = await run(
        'for p in /proc/[0-9]*; do tr "\\0" " " < $p/cmdline; echo; done 2>/dev/null | grep -c "^sleep 300\\|^straggler 300"; true',
      );
      expect(count.output).toBe('0\n');
    });

    test('an abort ends the command with 130', async () => {
      const abort = new AbortController();
      const result = run('touch to-abort; sleep 300', {}, abort.signal);
      await expect.poll(() => sandbox.stat('to-abort')).toBeDefined();
      abort.abort();
      expect(await result).toMatchObject({ exitCode: 130, timedOut: false });
    });

    test('a long output keeps its head and its tail', async () => {
      const { output } = await run('echo HEAD; head -c 3000000 /dev/zero | tr "\\0" x; echo TAIL');
      expect(output.length).toBeLessThan(51_000);
      expect(output).toMatch(/^HEAD\n/);
      expect(output).toMatch(/TAIL\n$/);
      expect(output).toContain('2950010 characters omitted out of 3000010 total');
    });

    test('standard input reaches the command; without one it is empty', async () => {
      expect((await run('cat', { stdin: 'fed' })).output).toBe('fed');
      expect((await run('cat; echo end')).output).toBe('end\n');
    });

    test('files are written whole, with parents, and read back in parts', async () => {
      const written = await sandbox.writeFile('a/b/c.txt', bytes('hello'));
      expect(written).toMatchObject({
        created: true,
        dirsCreated: ['a', 'a/b'],
        stat: { path: 'a/b/c.txt', sizeBytes: 5 },
      });
      expect(text((await sandbox.readFile('a/b/c.txt', { offset: 1, maxBytes: 3 })).bytes)).toBe('ell');
      expect((await run('ls -A a/b; cat a/b/c.txt')).output).toBe('c.txt\nhello');
      const again = await sandbox.writeFile('/workspace/a/b/c.txt', bytes('other'));
      expect(again.created).toBe(false);
      expect(again.stat.modifiedMs).not.toBe(written.stat.modifiedMs);
    });

    test('the mode of a file survives a write', async () => {
      await run('echo old > tool.sh; chmod 755 tool.sh');
      await sandbox.writeFile('tool.sh', bytes('new'));
      expect((await sandbox.stat('tool.sh'))?.mode).toBe(0o755);
    });

    test('a write that expects another version is refused and changes nothing', async () => {
      const { stat } = await sandbox.writeFile('v', bytes('1'));
      await sandbox.writeFile('v', bytes('2'));
      await expect(sandbox.writeFile('v', bytes('3'), { ifModifiedMs: stat.modifiedMs })).rejects.toMatchObject({
        code: 'ECHANGED',
      });
      await expect(sandbox.writeFile('v', bytes('3'), { overwrite: false })).rejects.toMatchObject({ code: 'EEXIST' });
      await expect(sandbox.writeFile('v', bytes('12345'), { maxBytes: 4 })).rejects.toMatchObject({ code: 'ETOOBIG' });
      expect(text((await sandbox.readFile('v')).bytes)).toBe('2');
    });

    test('40 MiB stream in and out', async () => {
      const piece = Buffer.alloc(1024 * 1024, 7);
      async function* source() {
        for (let i = 0; i < 40; i++) yield piece;
      }
      const { stat } = await sandbox.writeFile('big.bin', source());
      expect(stat.sizeBytes).toBe(40 * piece.length);
      let size = 0;
      for await (const chunk of (await sandbox.openFile('big.bin')).body) size += chunk.length;
      expect(size).toBe(40 * piece.length);
      await sandbox.removeFile('big.bin');
    });

    test('paths that lead outside are refused, by name or by link', async () => {
      await run(
        'ln -s /etc out; ln -s ../../etc/passwd up; mkdir in; echo ok > in/f; ln -s in inner; ln -s loop loop; ln -s /workspace/in/f abs',
      );
      for (const path of ['/etc/passwd', '../x', 'in/../../x', 'out/passwd', 'up', 'out']) {
        await expect(sandbox.readFile(path)).rejects.toMatchObject({ name: 'SandboxFileError', code: 'ESCAPE' });
        await expect(sandbox.writeFile(path, bytes('x'))).rejects.toMatchObject({
          name: 'SandboxFileError',
          code: 'ESCAPE',
        });
      }
      await expect(sandbox.readFile('loop')).rejects.toMatchObject({ code: 'ELOOP' });
      expect(text((await sandbox.readFile('inner/f')).bytes)).toBe('ok\n');
      expect(text((await sandbox.readFile('abs')).bytes)).toBe('ok\n');
      expect(text((await sandbox.readFile('~/in/f')).bytes)).toBe('ok\n');
      await sandbox.removeFile('out');
      expect((await run('ls -d /etc')).output).toBe('/etc\n');
    });

    test('missing files, directories and pipes are distinguished', async () => {
      await run('mkfifo pipe');
      expect(await sandbox.stat('nothing/here')).toBeUndefined();
      await expect(sandbox.readFile('nothing')).rejects.toMatchObject({ code: 'ENOENT' });
      await expect(sandbox.readFile('in')).rejects.toMatchObject({ code: 'EISDIR' });
      await expect(sandbox.readFile('pipe')).rejects.toMatchObject({ code: 'EINVAL' });
      await expect(sandbox.listDirectory('tool.sh')).rejects.toMatchObject({ code: 'ENOTDIR' });
    });

    test('entries are listed, moved, copied and removed', async () => {
      await run('rm -rf t; mkdir -p t/d; echo 1 > t/a; echo 2 > t/d/b');
      await sandbox.moveFile('t/a', 't/new/c');
      await expect(sandbox.moveFile('t/new/c', 't/d/b')).rejects.toMatchObject({ code: 'EEXIST' });
      await expect(sandbox.moveFile('t', 't/d/t')).rejects.toMatchObject({ code: 'EINVAL' });
      await sandbox.copyFile('t/d', 't/e');
      await sandbox.makeDirectory('t/f/g');
      expect((await sandbox.listDirectory('t')).map((stat) => [stat.path, stat.type])).toEqual([
        ['t/d', 'directory'],
        ['t/e', 'directory'],
        ['t/f', 'directory'],
        ['t/new', 'directory'],
      ]);
      expect(text((await sandbox.readFile('t/e/b')).bytes)).toBe('2\n');
      await expect(sandbox.removeFile('t')).rejects.toMatchObject({ code: 'ENOTEMPTY' });
      await sandbox.removeFile('t', { recursive: true });
      expect(await sandbox.stat('t')).toBeUndefined();
    });

    test('a search counts all and shows a page', async () => {
      await run(
        'mkdir -p s; for i in $(seq 1 120); do printf "x\\nneedle %s\\ny\\n" $i > s/f$i.txt; done; echo needle > s/other.md',
      );
      const base = { pattern: 'needle', path: 's', glob: '*.txt', context: 0, limit: 10, offset: 100 };
      const content = await sandbox.search({ ...base, mode: 'content' }, NEVER);
      expect(content.totalCount).toBe(120);
      expect(content.matches).toHaveLength(10);
      expect(content.matches[0]).toMatchObject({ line: 2, path: expect.stringMatching(/^s\/f\d+\.txt$/) as string });
      const around = await sandbox.search({ ...base, mode: 'content', context: 1, limit: 1 }, NEVER);
      expect(around.matches.map((match) => match.line)).toEqual([1, 2, 3]);
      expect((await sandbox.search({ ...base, mode: 'count', limit: 200, offset: 0 }, NEVER)).counts['s/f7.txt']).toBe(
        1,
      );
      expect((await sandbox.search({ ...base, mode: 'files_only' }, NEVER)).files).toHaveLength(10);
      expect(
        (await sandbox.search({ ...base, pattern: 'other.md', glob: '*', mode: 'names', offset: 0 }, NEVER)).files,
      ).toEqual(['s/other.md']);
      await expect(sandbox.search({ ...base, pattern: '(', mode: 'content' }, NEVER)).rejects.toMatchObject({
        code: 'SEARCH',
      });
    });

    test('background processes are fed, followed and ended', async () => {
      const start = { pty: false, notifyOnComplete: false, watchPatterns: [] };
      const cat = await sandbox.startProcess({ ...start, callId: randomUUID(), command: 'cat; echo end' });
      expect(cat).toMatchObject({ status: 'running', exitCode: null });
      expect(await sandbox.writeProcess(cat.id, 'line\n')).toBe(true);
      expect(await sandbox.closeProcessInput(cat.id)).toBe(true);
      expect(await sandbox.waitProcess(cat.id, 60_000, NEVER)).toMatchObject({
        status: 'exited',
        exitCode: 0,
        completionReason: 'exit',
      });
      expect((await sandbox.processOutput(cat.id))?.output).toBe('line\nend\n');
      const sleeper = await sandbox.startProcess({ ...start, callId: randomUUID(), command: 'sleep 300 & sleep 300' });
      expect(await sandbox.waitProcess(sleeper.id, 50, NEVER)).toMatchObject({ status: 'running' });
      expect(await sandbox.killProcess(sleeper.id)).toMatchObject({
        status: 'exited',
        exitCode: -15,
        completionReason: 'killed',
      });
      expect(await sandbox.processOutput('proc_none')).toBeUndefined();
      expect((await sandbox.listProcesses()).map((process) => process.id)).toEqual([cat.id, sleeper.id]);
    });

    test('a background process announces a watched line, or its end', async () => {
      const target = newTarget();
      const own = await opened.sandboxes.acquire(target, NEVER);
      const notices: SandboxNotice[] = [];
      const two = new Promise<void>((resolve) => {
        opened.sandboxes.onNotice((notice) => {
          if (notice.sessionId === target.sessionId && notices.push(notice) === 2) resolve();
        });
      });
      const start = { callId: randomUUID(), pty: false, notifyOnComplete: false, watchPatterns: ['READY'] };
      const watched = await own.startProcess({ ...start, command: 'echo not yet; echo is READY now; sleep 300' });
      const ending = await own.startProcess({
        ...start,
        callId: randomUUID(),
        notifyOnComplete: true,
        command: 'echo READY; exit 3',
      });
      await two;
      expect(notices.find((notice) => notice.processId === watched.id)?.text).toContain('is READY now');
      expect(notices.find((notice) => notice.processId === ending.id)?.text).toContain('finished with exit code 3');
    });

    test('acquire finds the same sandbox again, and sessions of a subject share files but no state', async () => {
      const target = newTarget();
      const first = await opened.sandboxes.acquire(target, NEVER);
      await first.run({ callId: '1', command: 'export A=1; echo hi > shared', timeoutMs: 60_000 }, NEVER);
      const again = await opened.sandboxes.acquire(target, NEVER);
      expect((await again.run({ callId: '2', command: 'echo $A', timeoutMs: 60_000 }, NEVER)).output).toBe('1\n');
      const other = await opened.sandboxes.acquire({ ...target, sessionId: 'ses_other' }, NEVER);
      expect(
        (await other.run({ callId: '1', command: 'echo "[$A]"; cat shared', timeoutMs: 60_000 }, NEVER)).output,
      ).toBe('[]\nhi\n');
    });

    test('a call in flight fails when the sandbox goes, the volume stays, and a new one comes', async () => {
      const target = newTarget();
      const first = await opened.sandboxes.acquire(target, NEVER);
      await first.writeFile('kept', bytes('still here'));
      const call = first.run({ callId: 'c', command: 'sleep 300', timeoutMs: 60_000 }, NEVER);
      const failed = call.then(
        () => undefined,
        (error: unknown) => error,
      );
      await first.stat('kept');
      await opened.sandboxes.remove(target);
      expect(await failed).toBeInstanceOf(SandboxError);
      await expect(first.stat('kept')).rejects.toBeInstanceOf(SandboxError);
      const second = await opened.sandboxes.acquire(target, NEVER);
      expect(text((await second.readFile('kept')).bytes)).toBe('still here');
      await opened.sandboxes.remove(target);
      await opened.sandboxes.remove(target);
    });

    test('a deleted volume is empty when it comes back', async () => {
      const target = newTarget({ agentId: 'agt_gone' });
      const first = await opened.sandboxes.acquire(target, NEVER);
      await first.writeFile('gone', bytes('x'));
      await opened.sandboxes.deleteVolumes(target);
      const second = await opened.sandboxes.acquire(target, NEVER);
      expect(await second.listDirectory('.')).toEqual([]);
    });

    test('warm and ping succeed', async () => {
      await expect(opened.sandboxes.warm(newTarget())).resolves.toBeUndefined();
      await expect(opened.sandboxes.ping()).resolves.toBeUndefined();
    });
  });
}
