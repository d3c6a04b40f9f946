import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFilesApi } from './harness.ts';
import type { FileBody, FilesApi, Subject } from './harness.ts';

let api: FilesApi;
let anna: Subject;
beforeAll(async () => {
  api = await openFilesApi();
  anna = api.subject();
});
afterAll(() => api.close());

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const RAW = { 'content-type': 'application/octet-stream' };
const ACCEPT_RAW = { headers: { accept: 'application/octet-stream' } };
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('a file written as JSON', () => {
  test('is answered with its metadata, and read back as text', async () => {
    const text = 'Grüße, "Welt"\n\t\\ 木 😀';
    const { status, body } = await anna.put('notes/today.md', text);
    expect(status).toBe(200);
    expect(body).toEqual({
      object: 'file',
      path: 'notes/today.md',
      name: 'today.md',
      type: 'file',
      sizeBytes: Buffer.byteLength(text),
      mimeType: 'text/markdown',
      checksumSha256: sha256(text),
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      updatedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
    expect((await anna.call<FileBody>('GET', '/files/stat', { path: 'notes/today.md' })).body).toEqual(body);
    const read = await anna.call<FileBody>('GET', '/files/content', { path: '/notes/today.md' });
    expect(read.body).toEqual({ ...body, object: 'file_content', encoding: 'utf-8', content: text });
  });

  test('in base64 keeps every byte, and comes back in base64 when it is no text', async () => {
    const bytes = randomBytes(300_001);
    const content = bytes.toString('base64');
    const { body } = await anna.put('data.bin', content, { encoding: 'base64', overwrite: true });
    expect([body.sizeBytes, body.checksumSha256]).toEqual([bytes.length, sha256(bytes)]);
    const read = await anna.call<FileBody>('GET', '/files/content', { path: 'data.bin' });
    expect([read.body.encoding, read.body.content === content]).toEqual(['base64', true]);
    expect((await anna.call('GET', '/files/content', { path: 'data.bin' }, ACCEPT_RAW)).bytes.equals(bytes)).toBe(true);
  });

  test('is text only when all of it is UTF-8 without NUL, wherever the pieces of a stream are cut', async () => {
    const text = 'ä木😀'.repeat(60_000);
    await anna.put('long.txt', text);
    const read = await anna.call<FileBody>('GET', '/files/content', { path: 'long.txt' });
    expect([read.body.encoding, read.body.content === text]).toEqual(['utf-8', true]);
    for (const bytes of [Buffer.from('a\0b'), Buffer.from([0x61, 0xff]), Buffer.from('ä').subarray(0, 1)]) {
      await anna.put('odd', bytes.toString('base64'), { encoding: 'base64', overwrite: true });
      const odd = await anna.call<FileBody>('GET', '/files/content', { path: 'odd' });
      expect([odd.body.encoding, odd.body.content]).toEqual(['base64', bytes.toString('base64')]);
    }
  });

  test('may be empty', async () => {
    expect((await anna.put('empty', '')).body).toMatchObject({ sizeBytes: 0, checksumSha256: sha256('') });
    expect((await anna.call<FileBody>('GET', '/files/content', { path: 'empty' })).body.content).toBe('');
    expect((await anna.call('GET', '/files/content', { path: 'empty' }, ACCEPT_RAW)).bytes.length).toBe(0);
  });

  test.each([
    ['no body', undefined, 'body: is required'],
    ['no content', { path: 'x' }, 'content: is required'],
    ['no path', { content: '' }, 'path: is required'],
    ['an unknown encoding', { path: 'x', content: '', encoding: 'hex' }, 'encoding: must be one of "utf-8", "base64"'],
    ['base64 without padding', { path: 'x', content: 'YQ', encoding: 'base64' }, 'content: must be valid base64'],
    ['base64 with other letters', { path: 'x', content: 'YQ*=', encoding: 'base64' }, 'content: must be valid base64'],
    ['half a character', { path: 'x', content: '\ud800' }, 'content: must be valid Unicode'],
    ['a list', [], 'body: must be of type object'],
  ])('with %s is refused', async (_name, body, message) => {
    const reply = await anna.call('PUT', '/files/content', {}, body === undefined ? {} : { body });
    expect([reply.status, reply.body.error, reply.body.message]).toEqual([400, 'validation_error', message]);
  });
});

describe('a write', () => {
  test('over a file needs `overwrite`', async () => {
    await anna.put('once', 'first');
    const refused = await anna.put('once', 'second');
    expect([refused.status, refused.body.error]).toEqual([409, 'conflict']);
    expect(await anna.text('once')).toBe('first');
    expect((await anna.put('once', 'second', { overwrite: true })).status).toBe(200);
    expect(await anna.text('once')).toBe('second');
  });

  test('over a folder, or below a file, is refused', async () => {
    await anna.put('folder/inner', 'x');
    for (const path of ['folder', 'folder/']) {
      expect((await anna.put(path, 'x', { overwrite: true })).body.error).toBe('validation_error');
    }
    expect((await anna.put('new/', 'x')).body.error).toBe('validation_error');
    expect((await anna.put('folder/inner/below', 'x')).body.error).toBe('conflict');
  });

  test('makes parents, unless told not to', async () => {
    const refused = await anna.put('no/such/folder', 'x', { createParents: false });
    expect([refused.status, refused.body.error]).toEqual([404, 'not_found']);
    expect((await anna.call('GET', '/files/stat', { path: 'no' })).status).toBe(404);
    expect((await anna.put('no/such/folder', 'x')).status).toBe(200);
  });
});

describe('raw bytes', () => {
  test('are written by PUT and POST with the rest in the query', async () => {
    const query = { path: 'raw/a.bin', overwrite: true };
    for (const method of ['PUT', 'POST']) {
      const bytes = randomBytes(100_000);
      const { status, body } = await anna.call<FileBody>(method, '/files/content', query, {
        headers: RAW,
        body: bytes,
      });
      expect([status, body.checksumSha256]).toEqual([200, sha256(bytes)]);
    }
    const again = await anna.call('PUT', '/files/content', { path: 'raw/a.bin' }, { headers: RAW, body: 'x' });
    expect([again.status, again.body.error]).toEqual([409, 'conflict']);
    const noParent = { path: 'nowhere/a', createParents: false };
    expect((await anna.call('PUT', '/files/content', noParent, { headers: RAW, body: 'x' })).status).toBe(404);
    expect((await anna.call('PUT', '/files/content', {}, { headers: RAW, body: 'x' })).body.message).toBe(
      'path: is required',
    );
    expect((await anna.call('PUT', '/files/content', { path: 'raw/empty' }, { headers: RAW, body: '' })).status).toBe(
      200,
    );
  });

  test('past 40 MiB are refused by an answer that every client reads', async () => {
    const body = Buffer.alloc(41_943_041);
    const reply = await anna.call('PUT', '/files/content', { path: 'raw/long' }, { headers: RAW, body });
    expect([reply.status, reply.body.error]).toEqual([400, 'validation_error']);
    expect(reply.headers.get('connection')).not.toBe('close');
  });

  test('count as what they come to, however JSON writes them', async () => {
    const body = `{"path":"raw/escaped","content":"${'\\u00e9'.repeat(11_000_000)}"}`;
    const headers = { 'content-type': 'application/json' };
    const reply = await anna.call<FileBody>('PUT', '/files/content', {}, { headers, body });
    expect([reply.status, reply.body.sizeBytes]).toEqual([200, 22_000_000]);
  });

  test('are read with length, name and no guess of a browser', async () => {
    await anna.put('raw/ü "x".html', '<script>1</script>');
    const { headers, bytes } = await anna.call('GET', '/files/content', { path: 'raw/ü "x".html' }, ACCEPT_RAW);
    expect(bytes.toString()).toBe('<script>1</script>');
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '18',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-disposition': `attachment; filename="_ _x_.html"; filename*=UTF-8''%C3%BC%20%22x%22.html`,
    });
  });

  test.each([
    ['bytes=2-4', 206, 'cde', 'bytes 2-4/10'],
    ['bytes=7-', 206, 'hij', 'bytes 7-9/10'],
    ['bytes=-3', 206, 'hij', 'bytes 7-9/10'],
    ['bytes=8-99', 206, 'ij', 'bytes 8-9/10'],
    ['bytes=0-0', 206, 'a', 'bytes 0-0/10'],
    ['bytes=0-1,3-4', 200, 'abcdefghij', null],
    ['lines=1-2', 200, 'abcdefghij', null],
  ])('are read in part: %s', async (range, status, text, contentRange) => {
    await anna.put('letters', 'abcdefghij', { overwrite: true });
    const headers = { ...ACCEPT_RAW.headers, range };
    const reply = await anna.call('GET', '/files/content', { path: 'letters' }, { headers });
    expect([reply.status, reply.bytes.toString(), reply.headers.get('content-range')]).toEqual([
      status,
      text,
      contentRange,
    ]);
    expect(reply.headers.get('content-length')).toBe(String(text.length));
  });

  test('past the end are no part', async () => {
    const headers = { ...ACCEPT_RAW.headers, range: 'bytes=10-' };
    const reply = await anna.call('GET', '/files/content', { path: 'letters' }, { headers });
    expect(reply.status).toBe(416);
  });
});

describe('a form', () => {
  const form = (fields: Record<string, string>, file: Buffer | undefined, first: 'file' | 'fields' = 'file') => {
    const body = new FormData();
    const addFile = () => file && body.append('file', new Blob([new Uint8Array(file)]), 'own.png');
    if (first === 'file') addFile();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    if (first === 'fields') addFile();
    return body;
  };

  test.each(['file', 'fields'] as const)('is taken with the %s first', async (first) => {
    const body = form({ path: `form/${first}.png`, overwrite: 'true', mimeType: 'text/plain' }, PNG, first);
    for (const method of ['PUT', 'POST']) {
      const reply = await anna.call<FileBody>(method, '/files/content', {}, { body });
      expect(reply.body).toMatchObject({
        path: `form/${first}.png`,
        mimeType: 'image/png',
        checksumSha256: sha256(PNG),
      });
    }
    const again = form({ path: `form/${first}.png` }, PNG, first);
    expect((await anna.call('POST', '/files/content', {}, { body: again })).status).toBe(409);
    const orphan = form({ path: 'nowhere/x.png', createParents: 'false' }, PNG, first);
    expect((await anna.call('POST', '/files/content', {}, { body: orphan })).status).toBe(404);
  });

  test('takes from the query what its fields leave open', async () => {
    const send = (query: Record<string, string>, fields: Record<string, string>) =>
      anna.call<FileBody>('PUT', '/files/content', query, { body: form(fields, PNG) });
    expect((await send({ path: 'query/a.png' }, {})).body.path).toBe('query/a.png');
    expect((await send({ path: 'query/a.png' }, {})).status).toBe(409);
    expect((await send({ path: 'query/a.png', overwrite: 'true' }, {})).status).toBe(200);
    expect((await send({ path: 'query/a.png' }, { path: 'query/b.png' })).body.path).toBe('query/b.png');
  });

  test('without a path takes the name of the file', async () => {
    const reply = await anna.call<FileBody>('PUT', '/files/content', {}, { body: form({}, PNG) });
    expect(reply.body.path).toBe('own.png');
  });

  test('without a file, or that is none, is refused', async () => {
    const missing = await anna.call('PUT', '/files/content', {}, { body: form({ path: 'x' }, undefined) });
    expect([missing.status, missing.body.message]).toEqual([400, 'file: is required']);
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=x']) {
      const broken = await anna.call(
        'PUT',
        '/files/content',
        {},
        { body: 'nonsense', headers: { 'content-type': type } },
      );
      expect([broken.status, broken.body.error]).toEqual([400, 'validation_error']);
    }
    const unknown = await anna.call('PUT', '/files/content', {}, { body: 'x', headers: { 'content-type': 'text/x' } });
    expect(unknown.body.message).toContain('multipart/form-data');
  });
});

test.each<[string, string | Buffer, string]>([
  ['picture.txt', PNG, 'image/png'],
  ['report.pdf', '%PDF-1.7\n%âãÏÓ\n', 'application/pdf'],
  ['fake.png', 'no picture', 'text/plain'],
  ['fake.zip', Buffer.from([1, 0, 2, 0xff]), 'application/octet-stream'],
  ['table.csv', 'a,b\n1,2\n', 'text/csv'],
  ['data.json', '{"a":1}', 'application/json'],
  ['page.html', '<!doctype html><p>x', 'text/html'],
  ['drawing.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
  ['no-extension', 'words', 'text/plain'],
  ['no-extension.bin', Buffer.from([0, 1, 2]), 'application/octet-stream'],
])('the type of %s follows its content', async (name, content, type) => {
  const bytes = Buffer.from(content as string);
  const body = { path: `mime/${name}`, content: bytes.toString('base64'), encoding: 'base64', mimeType: 'a/b' };
  expect((await anna.call<FileBody>('PUT', '/files/content', {}, { body })).body.mimeType).toBe(type);
});

test('reading a folder or a missing file is refused', async () => {
  await anna.put('some/file', 'x');
  for (const init of [{}, ACCEPT_RAW]) {
    expect((await anna.call('GET', '/files/content', { path: 'some' }, init)).body.error).toBe('validation_error');
    expect((await anna.call('GET', '/files/content', { path: 'missing' }, init)).body.error).toBe('not_found');
    expect((await anna.call('GET', '/files/content', { path: 'some/file/below' }, init)).body.error).toBe('not_found');
  }
});
