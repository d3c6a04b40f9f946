import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAX_FILE_BYTES } from '../../../../src/agents/contract/files.ts';
import { openFilesApi } from './harness.ts';
import type { FileBody, FilesApi, Reply } from './harness.ts';

let api: FilesApi;
beforeAll(async () => {
  api = await openFilesApi();
});
afterAll(() => api.close());

const RAW = { 'content-type': 'application/octet-stream' };
const MIB = 1024 * 1024;
const PIECE = randomBytes(MIB);

/** A body that is generated while it is sent. */
function streamOf(bytes: number): ReadableStream<Uint8Array> {
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      const piece = PIECE.subarray(0, Math.min(left, MIB));
      left -= piece.length;
      if (piece.length > 0) controller.enqueue(new Uint8Array(piece));
      if (left === 0) controller.close();
    },
  });
}

function hashOf(bytes: number): string {
  const hash = createHash('sha256');
  for (let left = bytes; left > 0; left -= MIB) hash.update(PIECE.subarray(0, Math.min(left, MIB)));
  return hash.digest('hex');
}

test('10,000 files are listed, searched, copied, moved and deleted completely', async () => {
  const anna = api.subject();
  await anna.run(
    `for d in $(seq -w 0 99); do mkdir -p tree/$d; for f in $(seq -w 0 99); do echo "text $d $f" > tree/$d/$f.txt; done; done; echo needle-word > tree/57/needle.md`,
  );
  const page = (path: string, offset: number) =>
    anna.call<{ data: FileBody[]; pagination: { total: number; hasMore: boolean } }>('GET', '/files', {
      path,
      recursive: true,
      limit: 100,
      offset,
    });
  const collect = async (path: string) => {
    const paths: string[] = [];
    for (let more = true; more;) {
      const { body } = await page(path, paths.length);
      expect(body.pagination.total).toBe(10_101);
      paths.push(...body.data.map((file) => file.path));
      more = body.pagination.hasMore;
    }
    return paths;
  };
  const paths = await collect('tree');
  expect(new Set(paths).size).toBe(10_101);
  expect(paths.slice(0, 100).every((path) => /^tree\/\d\d$/.test(path))).toBe(true);
  expect(paths.slice(100)).toEqual(paths.slice(100).sort());
  const found = await anna.call<{ data: { path: string }[] }>('GET', '/files/search', { query: 'needle-word' });
  expect(found.body.data.map(({ path }) => path)).toEqual(['tree/57/needle.md']);
  const named = await anna.call<{ data: { path: string }[] }>('GET', '/files/search', {
    query: '42.txt',
    maxResults: 100,
  });
  expect(named.body.data).toHaveLength(100);
  expect((await anna.call('POST', '/files/copy', {}, { body: { from: 'tree', to: 'copy' } })).status).toBe(200);
  expect((await anna.call('POST', '/files/move', {}, { body: { from: 'tree', to: 'a/b' } })).status).toBe(200);
  const moved = await collect('a/b');
  expect(moved).toEqual(paths.map((path) => path.replace('tree', 'a/b')));
  expect(await anna.run('diff -r copy a/b && find copy -type f | wc -l')).toBe('10001\n');
  expect((await anna.call('DELETE', '/files', { path: 'copy', recursive: true })).status).toBe(200);
  expect(await anna.run('ls -A')).toBe('a\n');
}, 120_000);

test('of 200 writers that create one file at once, one succeeds, and its content stands', async () => {
  const anna = api.subject();
  await anna.put('x', 'x');
  // a second executor beside the standby: both race for the names in one folder
  await anna.run('true');
  for (const path of ['one', 'new/folder/one']) {
    const replies = await Promise.all(Array.from({ length: 200 }, (_, index) => anna.put(path, `writer ${index}`)));
    const winners = replies.flatMap((reply, index) => (reply.status === 200 ? [index] : []));
    expect(winners).toHaveLength(1);
    expect(replies.filter((reply) => reply.status === 409)).toHaveLength(199);
    expect(await anna.text(path)).toBe(`writer ${winners[0]}`);
  }
  const moves = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      anna.call('POST', '/files/move', {}, { body: { from: 'one', to: `moved-${index}` } }),
    ),
  );
  expect(moves.filter((reply) => reply.status === 200)).toHaveLength(1);
  expect((await anna.names()).filter((name) => name.startsWith('moved-'))).toHaveLength(1);
});

test('200 parallel writers of their own files lose nothing, and overwriting leaves one whole file', async () => {
  const anna = api.subject();
  const text = (index: number) => `${index}-`.repeat(2000);
  const replies = await Promise.all(
    Array.from({ length: 200 }, (_, index) => anna.put(`d${index % 7}/f${index}`, text(index))),
  );
  expect(replies.filter((reply) => reply.status !== 200)).toEqual([]);
  for (let index = 0; index < 200; index += 1) expect(await anna.text(`d${index % 7}/f${index}`)).toBe(text(index));
  const overwritten = await Promise.all(
    Array.from({ length: 200 }, (_, index) => anna.put('shared', text(index), { overwrite: true })),
  );
  expect(overwritten.filter((reply) => reply.status !== 200)).toEqual([]);
  expect(Array.from({ length: 200 }, (_, index) => text(index))).toContain(await anna.text('shared'));
  expect(readdirSync(anna.folder).filter((name) => name.includes('.tmp'))).toEqual([]);
});

test('40 MiB go up and down, byte for byte, in every form; one more byte is refused', async () => {
  const anna = api.subject();
  const checksum = hashOf(MAX_FILE_BYTES);
  const raw = await anna.call<FileBody>(
    'PUT',
    '/files/content',
    { path: 'raw' },
    { headers: RAW, body: streamOf(MAX_FILE_BYTES) },
  );
  expect([raw.status, raw.body.sizeBytes, raw.body.checksumSha256]).toEqual([200, MAX_FILE_BYTES, checksum]);
  const bytes = (
    await anna.call('GET', '/files/content', { path: 'raw' }, { headers: { accept: 'application/octet-stream' } })
  ).bytes;
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(checksum);
  const json = await anna.put('json', bytes.toString('base64'), { encoding: 'base64' });
  expect([json.status, json.body.checksumSha256]).toEqual([200, checksum]);
  const read = await anna.call<FileBody>('GET', '/files/content', { path: 'json' });
  expect(createHash('sha256').update(Buffer.from(read.body.content, 'base64')).digest('hex')).toBe(checksum);
  const form = (size: number) => {
    const body = new FormData();
    body.append('file', new Blob([new Uint8Array(bytes), new Uint8Array(size - bytes.length)]), 'form');
    return anna.call<FileBody>('PUT', '/files/content', {}, { body });
  };
  expect((await form(MAX_FILE_BYTES)).body.checksumSha256).toBe(checksum);
  const tooBig = Buffer.concat([bytes, Buffer.from('x')]);
  const refused: Reply<FileBody>[] = [
    await anna.call('PUT', '/files/content', { path: 'big' }, { headers: RAW, body: streamOf(MAX_FILE_BYTES + 1) }),
    await anna.call('PUT', '/files/content', { path: 'big' }, { headers: RAW, body: tooBig }),
    await anna.put('big', tooBig.toString('base64'), { encoding: 'base64' }),
    await anna.put('big', 'x'.repeat(60 * MIB)),
    await form(MAX_FILE_BYTES + 1),
  ];
  for (const { status, body } of refused) {
    expect([status, body.error]).toEqual([400, 'validation_error']);
    expect(body.message).toContain(String(MAX_FILE_BYTES));
  }
  await anna.run(`head -c ${MAX_FILE_BYTES + 1} /dev/zero > big; mkdir d; cp big d/big`);
  for (const accept of ['application/json', 'application/octet-stream']) {
    const reply = await anna.call('GET', '/files/content', { path: 'big' }, { headers: { accept } });
    expect([reply.status, reply.body.error]).toEqual([400, 'validation_error']);
  }
  for (const from of ['big', 'd']) {
    const reply = await anna.call('POST', '/files/copy', {}, { body: { from, to: 'copied' } });
    expect([reply.status, reply.body.error]).toEqual([400, 'validation_error']);
  }
  expect((await anna.call('GET', '/files/stat', { path: 'copied' })).status).toBe(404);
  expect((await anna.call<FileBody>('GET', '/files/stat', { path: 'big' })).body).toMatchObject({
    sizeBytes: MAX_FILE_BYTES + 1,
    checksumSha256: null,
  });
  expect(readdirSync(anna.folder).sort()).toEqual(['big', 'd', 'form', 'json', 'raw']);
}, 120_000);

test('an upload that is cut off leaves nothing behind', async () => {
  const anna = api.subject();
  await anna.put('kept', 'old');
  const cut = (type: string, path: string, head: string) =>
    new Promise<void>((resolve) => {
      const url = new URL(
        `${api.url}/v1/agents/${api.agentId}/users/${encodeURIComponent(anna.id)}/files/content?path=${path}&overwrite=true`,
      );
      const headers = { 'x-api-key': api.key, 'content-type': type, 'content-length': String(20 * MIB) };
      const sending = request(url, { method: 'PUT', headers });
      sending.on('error', () => resolve());
      sending.write(head);
      sending.write(Buffer.alloc(3 * MIB), () => setTimeout(() => sending.destroy(), 200));
      sending.on('close', () => resolve());
    });
  await Promise.all([
    cut('application/octet-stream', 'kept', ''),
    cut('application/octet-stream', 'new/file', ''),
    cut(
      'multipart/form-data; boundary=b',
      'kept',
      '--b\r\ncontent-disposition: form-data; name="file"; filename="form"\r\n\r\n',
    ),
  ]);
  const left = () => readdirSync(anna.folder, { recursive: true }).filter((name) => name !== 'new');
  await expect.poll(left).toEqual(['kept']);
  expect(readFileSync(`${anna.folder}/kept`, 'utf8')).toBe('old');
  expect((await anna.put('kept', 'still works', { overwrite: true })).status).toBe(200);
});
