import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_VOLUME_BYTES } from '../../../../src/sandbox/volume-size.ts';
import type { Volume } from '../../../../src/agents/contract/files.ts';
import { makeScratch } from '../../../support/scratch.ts';
import { AGENT } from '../harness.ts';
import { listSandboxProcesses } from '../../../support/sandbox-processes.ts';
import { openFilesApi } from './harness.ts';
import type { FilesApi, Subject } from './harness.ts';

const MIB = 1024 * 1024;
const RAW = { 'content-type': 'application/octet-stream' };
const getVolume = async (subject: Subject) => (await subject.call<Volume>('GET', '/volume')).body;
const fill = (subject: Subject, path: string, bytes: number) =>
  subject.call('PUT', '/files/content', { path, overwrite: true }, { headers: RAW, body: Buffer.alloc(bytes, 1) });

/** The head of an upload, which continues when `end` is called. */
function beginUpload({ url, key, agentId }: FilesApi, subject: Subject, path: string, bytes: number) {
  const route = `${url}/v1/agents/${agentId}/users/${encodeURIComponent(subject.id)}/files/content?path=${path}`;
  const headers = { ...RAW, 'x-api-key': key, 'content-length': String(bytes) };
  const { promise: status, resolve, reject } = Promise.withResolvers<number | undefined>();
  const sending = request(route, { method: 'PUT', headers, agent: false }, (response) => {
    resolve(response.statusCode);
    response.resume();
  });
  sending.on('error', reject);
  sending.flushHeaders();
  return { status, end: () => sending.end(Buffer.alloc(bytes, 1)) };
}

/** A bubblewrap that is slow or never starts; the server's own check at start-up is not delayed. */
function placeBubblewrap(before: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'capstan-bwrap-'));
  // as root, bubblewrap is started as another user
  chmodSync(folder, 0o755);
  writeFileSync(
    join(folder, 'bwrap'),
    `#!/bin/sh\ncase "$*" in *'-- true') ;; *) ${before} ;; esac\nexec /usr/bin/bwrap "$@"\n`,
  );
  chmodSync(join(folder, 'bwrap'), 0o755);
  return folder;
}

describe('a volume', () => {
  let api: FilesApi;
  beforeAll(async () => {
    api = await openFilesApi();
  });
  afterAll(() => api.close());

  test('does not outlive an agent that is deleted while files come in', async () => {
    const anna = api.subject();
    await anna.put('x', '');
    const organization = dirname(dirname(anna.folder));
    for (let round = 0; round < 3; round += 1) {
      const { id } = (await api.send<{ id: string }>('POST', '/v1/agents', { body: AGENT })).body;
      const files = `/v1/agents/${id}/users/anna/files`;
      const write = (path: string) => api.send('PUT', `${files}/content`, { body: { path, content: 'x' } });
      const warm = () => api.send('POST', '/v1/sandboxes/warm', { body: { agentId: id, subjectId: 'bert' } });
      const coming = [write('a'), warm(), write('b'), write('c')];
      const deleted = await api.send('DELETE', `/v1/agents/${id}`);
      coming.push(write('d'));
      for (const { status } of await Promise.all(coming)) expect([200, 202, 404, 503]).toContain(status);
      expect([deleted.status, (await api.send('GET', files)).status]).toEqual([200, 404]);
      expect(readdirSync(organization)).not.toContain(id);
    }
  });

  test('begins with the first write, and no reading makes one', async () => {
    const anna = api.subject();
    await anna.names();
    await anna.call('GET', '/files/search', { query: 'x' });
    expect((await anna.call('GET', '/files/stat', { path: 'x' })).body.error).toBe('not_found');
    expect((await anna.call('GET', '/files/content', { path: 'x' })).body.error).toBe('not_found');
    expect((await anna.call('DELETE', '/files', { path: 'x' })).body.error).toBe('not_found');
    const body = { from: 'a', to: 'b' };
    expect((await anna.call('POST', '/files/move', {}, { body })).body.error).toBe('not_found');
    expect(await getVolume(anna)).toEqual({
      object: 'sandbox.volume',
      agentId: api.agentId,
      subjectId: anna.id,
      status: 'none',
      sizeBytes: 0,
      usedBytes: 0,
      availableBytes: 0,
      maxSizeBytes: MAX_VOLUME_BYTES,
      createdAt: null,
      updatedAt: null,
    });
    expect(existsSync(anna.folder)).toBe(false);
    await fill(anna, 'a', 3 * MIB);
    const volume = await getVolume(anna);
    expect(volume).toMatchObject({ status: 'ready', sizeBytes: 536_870_912, maxSizeBytes: 4_294_967_296 });
    expect(volume.usedBytes).toBeGreaterThanOrEqual(3 * MIB);
    expect(volume.usedBytes).toBeLessThan(4 * MIB);
    expect(volume.availableBytes).toBe(volume.sizeBytes - volume.usedBytes);
    expect(volume.createdAt).toMatch(/^\d{4}-/);
    await anna.run('head -c 5000000 /dev/zero > by-session');
    expect((await getVolume(anna)).usedBytes).toBeGreaterThan(volume.usedBytes + 4 * MIB);
  });

  test('goes with its agent', async () => {
    const { id } = (
      await api.send<{ id: string }>('POST', '/v1/agents', {
        body: { name: 'x', modelName: 'script/demo', systemPrompt: 'x', skills: [], tools: [] },
      })
    ).body;
    const prefix = `/v1/agents/${id}/users/bob`;
    await api.send('PUT', `${prefix}/files/content`, { body: { path: 'a', content: 'x' } });
    const volumes = () => readdirSync(api.local.dir, { recursive: true }).filter((name) => String(name).includes(id));
    expect(volumes().length).toBeGreaterThan(1);
    expect((await api.send('DELETE', `/v1/agents/${id}`)).status).toBe(200);
    expect(volumes()).toEqual([]);
    expect((await api.send('GET', `${prefix}/files`)).status).toBe(404);
  });

  test('that is warmed has a standby, which the next session adopts', async () => {
    const anna = api.subject();
    const warm = { agentId: api.agentId, subjectId: anna.id };
    for (let time = 0; time < 2; time += 1) {
      const reply = await api.send('POST', '/v1/sandboxes/warm', { body: warm });
      expect([reply.status, reply.body]).toEqual([
        202,
        { object: 'sandbox.warm', status: 'warming', reason: null, agentId: api.agentId, subjectId: anna.id },
      ]);
    }
    expect(['warming', 'ready']).toContain((await getVolume(anna)).status);
    await expect.poll(async () => (await getVolume(anna)).status).toBe('ready');
    await anna.put('by-api', 'x');
    const before = executorsOf(anna);
    expect(before).toHaveLength(1);
    expect(await anna.run('cat by-api; echo from session > by-session')).toBe('x');
    expect(executorsOf(anna)).toEqual(before);
    expect(await anna.text('by-session')).toBe('from session\n');
    expect(executorsOf(anna)).toEqual(before);
  });
});

const readCommand = (pid: string) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
/** Process ids of the executors of the volume. */
function executorsOf({ folder }: Subject): number[] {
  return listSandboxProcesses(folder).filter((pid) => {
    try {
      return readCommand(String(pid))[0] === '/opt/capstan/executor';
    } catch {
      return false;
    }
  });
}

test('a volume grows by doubling, never shrinks, and rejects writes beyond its maximum', async () => {
  const api = await openFilesApi({ initialVolumeBytes: 4 * MIB, maxVolumeBytes: 16 * MIB });
  const anna = api.subject();
  const sizes = [];
  for (let index = 0; index < 3; index += 1) {
    expect((await fill(anna, `f${index}`, 4 * MIB)).status).toBe(200);
    sizes.push((await getVolume(anna)).sizeBytes / MIB);
  }
  expect(sizes).toEqual([8, 16, 16]);
  for (const path of ['f3', 'f4']) {
    const refused = await fill(anna, path, 5 * MIB);
    expect([refused.status, refused.body.error]).toEqual([400, 'validation_error']);
    expect(refused.body.message).toContain('limited to 4294967296 bytes');
  }
  const copy = await anna.call('POST', '/files/copy', {}, { body: { from: 'f0', to: 'f9' } });
  expect([
    copy.status,
    (await anna.call('POST', '/files/copy', {}, { body: { from: 'f0', to: 'f10' } })).status,
  ]).toEqual([200, 400]);
  expect(readdirSync(anna.folder).sort()).toEqual(['f0', 'f1', 'f2', 'f9']);
  for (const path of ['f0', 'f1', 'f2']) await anna.call('DELETE', '/files', { path });
  expect(await getVolume(anna)).toMatchObject({ sizeBytes: 16 * MIB, status: 'ready' });
  expect((await fill(anna, 'fits', 8 * MIB)).status).toBe(200);
  await api.close();
});

test('parallel writers cannot pass the limit together', async () => {
  const api = await openFilesApi({ initialVolumeBytes: MIB, maxVolumeBytes: 10 * MIB });
  const anna = api.subject();
  const uploads = Array.from({ length: 20 }, (_, index) => beginUpload(api, anna, `f${index}`, MIB));
  let answered = 0;
  for (const { status } of uploads) void status.then(() => (answered += 1));
  // Space is reserved from the start of an upload: none of them ends before each has its reservation or was rejected.
  const held = () => (existsSync(anna.folder) ? readdirSync(anna.folder) : []).filter((name) => name.endsWith('.tmp'));
  await expect.poll(() => answered + held().length).toBe(20);
  expect(held()).toHaveLength(10);
  for (const { end } of uploads) end();
  const statuses = await Promise.all(uploads.map(({ status }) => status));
  expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  expect(statuses.filter((status) => status === 400)).toHaveLength(10);
  expect((await getVolume(anna)).usedBytes).toBeLessThanOrEqual(10 * MIB);
  await api.close();
});

test('a call waits for a volume that warms up, and gives up in time', async () => {
  const gate = makeScratch('gate');
  chmodSync(gate, 0o755);
  const open = join(gate, 'open');
  const places = [placeBubblewrap(`until [ -e ${open} ]; do sleep 0.02; done`)];
  const patient = await openFilesApi({ bwrapPlaces: places });
  const anna = patient.subject();
  await patient.send('POST', '/v1/sandboxes/warm', { body: { agentId: patient.agentId, subjectId: anna.id } });
  expect((await getVolume(anna)).status).toBe('warming');
  const put = anna.put('a', 'x');
  expect((await getVolume(anna)).status).toBe('warming');
  writeFileSync(open, '');
  expect((await put).status).toBe(200);
  expect((await getVolume(anna)).status).toBe('ready');
  await patient.close();
  rmSync(open);
  const hasty = await openFilesApi({ bwrapPlaces: places, volumeWaitMs: 100 });
  const bob = hasty.subject();
  const late = await bob.put('a', 'x');
  expect([late.status, late.body.error, late.headers.get('retry-after')]).toEqual([503, 'server_error', '1']);
  expect((await getVolume(bob)).status).toBe('warming');
  writeFileSync(open, '');
  await expect.poll(async () => (await bob.put('a', 'x')).status, { interval: 300 }).toBe(200);
  await hasty.close();
  rmSync(gate, { recursive: true });
  rmSync(places[0] ?? '', { recursive: true });
});

test('a volume that cannot be reached says so, and loses nothing', async () => {
  const api = await openFilesApi({ standbyIdleMs: 100 });
  const anna = api.subject();
  // On a busy machine the first answer may be that the volume is still warming up.
  await expect.poll(async () => (await anna.put('a', 'kept')).status, { interval: 300 }).toBe(200);
  await expect.poll(() => executorsOf(anna)).toEqual([]);
  const broken = placeBubblewrap('exit 1');
  const again = await openFilesApi({ bwrapPlaces: [broken] });
  const bob = again.subject();
  const refused = await bob.put('a', 'x');
  expect([refused.status, refused.body.error, refused.headers.get('retry-after')]).toEqual([503, 'server_error', '1']);
  expect((await getVolume(bob)).status).toBe('unavailable');
  expect(await anna.text('a')).toBe('kept');
  await again.close();
  await api.close();
  rmSync(broken, { recursive: true });
});

test('standbys are bounded in number and end when idle', async () => {
  const api = await openFilesApi({ maxStandbys: 2, standbyIdleMs: 1500 });
  const subjects = Array.from({ length: 5 }, () => api.subject());
  for (const subject of subjects) expect((await subject.put('own', subject.id)).status).toBe(200);
  const count = () => subjects.flatMap(executorsOf).length;
  await expect.poll(count).toBeLessThanOrEqual(2);
  const parallel = await Promise.all(subjects.map((subject) => subject.text('own')));
  expect(parallel).toEqual(subjects.map((subject) => subject.id));
  await expect.poll(count, { interval: 500 }).toBe(0);
  expect(await subjects[0]?.text('own')).toBe(subjects[0]?.id);
  await api.close();
});
