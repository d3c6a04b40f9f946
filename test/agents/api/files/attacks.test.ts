import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killSandboxProcesses } from '../../../support/sandbox-processes.ts';
import { NEVER } from '../../../support/sandbox.ts';
import { openFilesApi } from './harness.ts';
import type { FileBody, FilesApi, Subject } from './harness.ts';

const CANARY = `canary-${randomUUID()}`;
let api: FilesApi;
let outside: string;
beforeAll(async () => {
  api = await openFilesApi();
  outside = mkdtempSync(join(tmpdir(), 'capstan-outside-'));
  writeFileSync(join(outside, 'secret'), CANARY);
});
afterAll(async () => {
  await api.close();
  rmSync(outside, { recursive: true, force: true });
});

/** Every way to traverse a path; `path/below` if it is expected to be a folder. */
function tryAll(subject: Subject, path: string): Promise<[string, { status: number; bytes: Buffer }][]> {
  const raw = { headers: { accept: 'application/octet-stream' } };
  const tries: Record<string, Promise<{ status: number; bytes: Buffer }>> = {
    stat: subject.call('GET', '/files/stat', { path }),
    read: subject.call('GET', '/files/content', { path }),
    raw: subject.call('GET', '/files/content', { path }, raw),
    list: subject.call('GET', '/files', { path }),
    search: subject.call('GET', '/files/search', { path, query: 'canary' }),
    below: subject.call('GET', '/files/content', { path: `${path}/secret` }),
    write: subject.put(path, 'overwritten', { overwrite: true }),
    writeBelow: subject.put(`${path}/new`, 'x'),
    mkdir: subject.call('POST', '/files/mkdir', {}, { body: { path: `${path}/folder` } }),
    copy: subject.call('POST', '/files/copy', {}, { body: { from: path, to: `copied-${randomUUID()}` } }),
    moveBelow: subject.call('POST', '/files/move', {}, { body: { from: `${path}/secret`, to: 'moved' } }),
    deleteBelow: subject.call('DELETE', '/files', { path: `${path}/secret`, recursive: true }),
  };
  return Promise.all(
    Object.entries(tries).map(
      async ([name, reply]) => [name, await reply] as [string, { status: number; bytes: Buffer }],
    ),
  );
}

test('links that lead outside are refused everywhere, and can be seen and deleted', async () => {
  const eve = api.subject();
  await eve.run(
    `ln -s ${outside} host; ln -s ${outside}/secret host-file; ln -s /etc etc; ln -s /proc/self/root root; ` +
      `ln -s /proc/self/cwd/../../etc/passwd proc; ln -s ../../../../../../etc/passwd up; ln -s / slash; ` +
      `ln -s loop loop; mkdir in; ln -s ../../etc in/out; ln -s /run/capstan run`,
  );
  for (const path of ['host', 'host-file', 'etc', 'root', 'proc', 'up', 'slash', 'loop', 'in/out', 'run']) {
    for (const [name, { status, bytes }] of await tryAll(eve, path)) {
      expect([path, name, [400, 404].includes(status)]).toEqual([path, name, true]);
      expect(bytes.toString()).not.toMatch(/canary-|root:|agent:/);
    }
  }
  const listed = await eve.call<{ data: FileBody[] }>('GET', '/files', { recursive: true, limit: 100 });
  const links = listed.body.data.filter((file) => file.mimeType === 'inode/symlink');
  expect(links.map((file) => [file.path, file.checksumSha256, file.sizeBytes])).toHaveLength(10);
  expect(listed.bytes.toString()).not.toMatch(/canary-|passwd:/);
  for (const { path } of links) expect((await eve.call('DELETE', '/files', { path })).status).toBe(200);
  expect(await eve.names({ recursive: true })).toEqual(['in']);
  expect(readdirSync(outside)).toEqual(['secret']);
});

test('a link that leads nowhere in the workspace is moved itself, and the answer says so', async () => {
  const eve = api.subject();
  await eve.run('ln -s /etc/passwd out; ln -s nowhere dead; ln -s loop loop');
  for (const from of ['out', 'dead', 'loop']) {
    const moved = await eve.call<FileBody>('POST', '/files/move', {}, { body: { from, to: `in/${from}` } });
    expect([moved.status, moved.body.path, moved.body.mimeType]).toEqual([200, `in/${from}`, 'inode/symlink']);
    expect(moved.body.checksumSha256).toBeNull();
  }
  expect(await eve.run('readlink in/out in/dead in/loop; ls -A')).toBe('/etc/passwd\nnowhere\nloop\nin\n');
});

test('a folder full of links is copied and deleted without following any', async () => {
  const eve = api.subject();
  await eve.run(`mkdir t; ln -s /etc t/etc; ln -s .. t/up; ln -s t/self t/self; echo kept > kept; ln -s ../kept t/in`);
  expect((await eve.call('POST', '/files/copy', {}, { body: { from: 't', to: 'u' } })).status).toBe(200);
  expect(await eve.run('readlink u/etc u/up u/self u/in')).toBe('/etc\n..\nt/self\n../kept\n');
  for (const path of ['t', 'u']) {
    expect((await eve.call('DELETE', '/files', { path, recursive: true })).status).toBe(200);
  }
  expect(await eve.run('ls -A; cat kept; ls /etc | head -c 3 | wc -c')).toBe('kept\nkept\n3\n');
});

test('pipes, sockets and unreadable files block nobody', async () => {
  const eve = api.subject();
  await eve.run(
    `mkfifo pipe; mkdir -p locked dir; echo x > locked/f; echo y > mute; chmod 0 locked mute; mkfifo dir/pipe; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")' || true`,
  );
  for (const init of [{}, { headers: { accept: 'application/octet-stream' } }]) {
    expect((await eve.call('GET', '/files/content', { path: 'pipe' }, init)).body.error).toBe('validation_error');
    expect((await eve.call('GET', '/files/content', { path: 'mute' }, init)).body.error).toBe('forbidden');
  }
  expect((await eve.put('pipe', 'x', { overwrite: true })).body.error).toBe('validation_error');
  expect((await eve.call<FileBody>('GET', '/files/stat', { path: 'pipe' })).body).toMatchObject({
    type: 'file',
    mimeType: 'inode/fifo',
    checksumSha256: null,
  });
  expect((await eve.call<FileBody>('GET', '/files/stat', { path: 'mute' })).body.checksumSha256).toBeNull();
  expect((await eve.names({ recursive: true })).filter((path) => path !== 'socket')).toEqual([
    'dir',
    'locked',
    'dir/pipe',
    'mute',
    'pipe',
  ]);
  expect((await eve.call('GET', '/files/search', { query: 'zzz' })).status).toBe(200);
  expect((await eve.call('GET', '/volume')).status).toBe(200);
  expect((await eve.call('POST', '/files/copy', {}, { body: { from: 'pipe', to: 'p2' } })).body.error).toBe(
    'validation_error',
  );
  expect((await eve.call('POST', '/files/copy', {}, { body: { from: 'dir', to: 'dir2' } })).status).toBe(200);
  expect((await eve.call('DELETE', '/files', { path: 'locked', recursive: true })).body.error).toBe('forbidden');
  expect(await eve.run('chmod 700 locked; cat locked/f')).toBe('x\n');
  expect((await eve.call('DELETE', '/files', { path: 'pipe' })).status).toBe(200);
});

test('a link swapped in all the time leads no operation outside, nor into reserved folders', async () => {
  const eve = api.subject();
  await eve.run('mkdir real memories; echo inside > real/secret; echo note > memories/secret; ln -s real flip');
  const session = await api.local.sandboxes.acquire(
    {
      organizationId: (await organizationOf()) as string,
      agentId: api.agentId,
      subjectId: eve.id,
      sessionId: 'ses_race',
    },
    NEVER,
  );
  const loop = await session.startProcess({
    callId: randomUUID(),
    command: `while :; do ln -sfn ${outside} flip; ln -sfn real flip; ln -sfn /etc flip; ln -sfn memories flip; mkdir -p sub/x; mv -T sub moved 2>/dev/null; ln -s /etc sub 2>/dev/null; rm -rf sub moved; done`,
    pty: false,
    notifyOnComplete: false,
    watchPatterns: [],
  });
  const seen = new Set<number>();
  for (let round = 0; round < 25; round += 1) {
    const replies = await Promise.all([
      eve.put(`flip/new-${round}`, 'x'),
      eve.put(`sub/x/new-${round}`, 'x'),
      eve.put('flip/secret', 'inside', { overwrite: true }),
      eve.call('GET', '/files/content', { path: 'flip/secret' }),
      eve.call('GET', '/files', { path: 'flip' }),
      eve.call('GET', '/files', { recursive: true }),
      eve.call('POST', '/files/mkdir', {}, { body: { path: `flip/d/${round}` } }),
      eve.call('POST', '/files/copy', {}, { body: { from: 'flip', to: `copy-${round}` } }),
      eve.call('DELETE', '/files', { path: 'sub', recursive: true }),
    ]);
    for (const { status, bytes } of replies) {
      seen.add(status);
      expect(status).toBeLessThan(500);
      expect(bytes.toString()).not.toMatch(/canary-|root:|"passwd"/);
    }
  }
  await session.killProcess(loop.id);
  expect([...seen]).toContain(200);
  expect([...seen]).toContain(400);
  expect(readdirSync(outside)).toEqual(['secret']);
  expect(await eve.run('ls -A memories; cat memories/secret; ls -A /etc | grep new; true')).toBe('secret\nnote\n');
});

async function organizationOf(): Promise<string | undefined> {
  const folders = readdirSync(api.local.dir);
  return folders.find((name) => name.startsWith('org_'));
}

test('an executor that is killed harms no other call', async () => {
  const eve = api.subject();
  await eve.put('kept', 'x');
  const killing = eve.run('touch running; sleep 60').catch((error: Error) => error.name);
  await expect.poll(async () => (await eve.call('GET', '/files/content', { path: 'running' })).status).toBe(200);
  killSandboxProcesses(api.local.dir);
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => eve.call('GET', '/files/content', { path: 'kept' })),
  );
  expect(await killing).toBe('SandboxError');
  for (const { status } of replies) expect([200, 503]).toContain(status);
  expect(await eve.text('kept')).toBe('x');
});
