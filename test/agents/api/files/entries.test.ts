import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openFilesApi } from './harness.ts';
import type { FileBody, FilesApi, Subject } from './harness.ts';

let api: FilesApi;
let anna: Subject;
beforeAll(async () => {
  api = await openFilesApi();
});
afterAll(() => api.close());
beforeEach(() => {
  anna = api.subject();
});

const post = (path: string, body: unknown) => anna.call<FileBody>('POST', path, {}, { body });
const outcome = async (reply: Promise<{ status: number; body: { error?: string } }>) => {
  const { status, body } = await reply;
  return [status, body.error];
};

type FileList = { object: string; path: string; data: FileBody[]; pagination: object };

describe('a listing', () => {
  test('holds folders first, then names, hidden ones too', async () => {
    for (const path of ['b.txt', '.hidden', 'a.txt', 'z/inner', 'B.txt', '.git/config']) await anna.put(path, 'x');
    expect(await anna.names()).toEqual(['.git', 'z', '.hidden', 'B.txt', 'a.txt', 'b.txt']);
    const { body } = await anna.call<FileList>('GET', '/files');
    expect(body.data[1]).toMatchObject({ type: 'directory', sizeBytes: 0, mimeType: null, checksumSha256: null });
    expect(body.data[4]).toMatchObject({ type: 'file', sizeBytes: 1, mimeType: 'text/plain' });
    expect(body).toMatchObject({ object: 'list', path: '' });
    expect(await anna.names({ path: '/z/' })).toEqual(['z/inner']);
    await anna.put('~/home', 'x');
    expect(await anna.names({ path: '~' })).toEqual(['~/home']);
    await anna.call('DELETE', '/files', { path: '~', recursive: true });
    expect(await anna.names({ recursive: true })).toEqual([
      '.git',
      'z',
      '.git/config',
      '.hidden',
      'B.txt',
      'a.txt',
      'b.txt',
      'z/inner',
    ]);
  });

  test('comes in pages that fit together', async () => {
    for (let index = 0; index < 7; index += 1) await anna.put(`f${index}`, String(index));
    const pages = [];
    for (let offset = 0; offset < 8; offset += 3) {
      const { body } = await anna.call<FileList>('GET', '/files', { limit: 3, offset });
      expect(body.pagination).toMatchObject({ limit: 3, offset, hasMore: offset < 6, total: 7 });
      pages.push(...body.data.map((file) => file.name));
    }
    expect(pages).toEqual(['f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6']);
  });

  test('of a missing folder is not found, of a file is refused, without a volume is empty', async () => {
    const { body } = await anna.call<FileList>('GET', '/files', { path: 'any' });
    expect(body).toEqual({
      object: 'list',
      path: 'any',
      data: [],
      pagination: { limit: 50, offset: 0, hasMore: false, total: 0, nextCursor: null },
    });
    await anna.put('file', 'x');
    expect(await outcome(anna.call('GET', '/files', { path: 'missing' }))).toEqual([404, 'not_found']);
    expect(await outcome(anna.call('GET', '/files', { path: 'file' }))).toEqual([400, 'validation_error']);
  });

  test.each(['limit=0', 'limit=101', 'offset=-1', 'recursive=x'])('with %s is refused', async (query) => {
    const [name = '', value = ''] = query.split('=');
    expect(await outcome(anna.call('GET', '/files', { [name]: value }))).toEqual([400, 'validation_error']);
  });
});

describe('making a folder', () => {
  test('makes its parents, and answers one that exists unchanged', async () => {
    const made = await post('/files/mkdir', { path: 'a/b' });
    expect([made.status, made.body.type, made.body.path]).toEqual([200, 'directory', 'a/b']);
    await anna.put('a/b/kept', 'x');
    const again = await post('/files/mkdir', { path: 'a/b' });
    expect([again.status, again.body.createdAt]).toEqual([200, made.body.createdAt]);
    expect(await anna.names({ path: 'a/b' })).toEqual(['a/b/kept']);
  });

  test('is refused over a file, and without parents', async () => {
    await anna.put('file', 'x');
    expect(await outcome(post('/files/mkdir', { path: 'file' }))).toEqual([409, 'conflict']);
    expect(await outcome(post('/files/mkdir', { path: 'x/y', createParents: false }))).toEqual([404, 'not_found']);
    expect(await outcome(post('/files/mkdir', { path: 'x', createParents: false }))).toEqual([200, undefined]);
  });
});

describe.each(['move', 'copy'])('%s', (kind) => {
  const transfer = (from: string, to: string, overwrite?: boolean) =>
    post(`/files/${kind}`, { from, to, ...(overwrite === undefined ? {} : { overwrite }) });
  const stays = kind === 'copy';

  test('takes a file, making the parents of its new place', async () => {
    const { body: before } = await anna.put('a.txt', 'text');
    const { status, body } = await transfer('a.txt', 'new/place/b.txt');
    expect([status, body.path, body.checksumSha256]).toEqual([200, 'new/place/b.txt', before.checksumSha256]);
    expect(await anna.text('new/place/b.txt')).toBe('text');
    expect(await anna.text('a.txt')).toBe(stays ? 'text' : 'status 404');
  });

  test('takes a folder with all below', async () => {
    for (const path of ['d/1', 'd/e/2', 'd/e/.f/3']) await anna.put(path, path);
    expect((await transfer('d', 'x/d2')).body.type).toBe('directory');
    for (const path of ['1', 'e/2', 'e/.f/3']) expect(await anna.text(`x/d2/${path}`)).toBe(`d/${path}`);
    expect((await anna.call('GET', '/files/stat', { path: 'd' })).status).toBe(stays ? 200 : 404);
    expect(await outcome(transfer(stays ? 'd' : 'x/d2', stays ? 'd/e/d' : 'x/d2/y'))).toEqual([
      400,
      'validation_error',
    ]);
  });

  test('over what exists needs `overwrite`', async () => {
    await anna.put('one', '1');
    await anna.put('two', '2');
    expect(await outcome(transfer('one', 'two'))).toEqual([409, 'conflict']);
    expect(await outcome(transfer('one', 'one'))).toEqual([409, 'conflict']);
    expect(await anna.text('two')).toBe('2');
    expect((await transfer('one', 'two', true)).status).toBe(200);
    expect(await anna.text('two')).toBe('1');
  });

  test('never replaces a folder by a file or the other way round, but a folder by a folder', async () => {
    await anna.put('d/old', 'x');
    await anna.put('e/new', 'y');
    await anna.put('file', 'z');
    expect(await outcome(transfer('d', 'file', true))).toEqual([409, 'conflict']);
    expect(await outcome(transfer('file', 'd', true))).toEqual([409, 'conflict']);
    expect(await outcome(transfer('e', 'd'))).toEqual([409, 'conflict']);
    expect(await outcome(transfer('e', 'd', true))).toEqual([200, undefined]);
    expect(await anna.names({ path: 'd' })).toEqual(['d/new']);
  });

  test('of nothing is not found', async () => {
    expect(await outcome(transfer('a', 'b'))).toEqual([404, 'not_found']);
    await anna.put('file', 'x');
    expect(await outcome(transfer('missing', 'b'))).toEqual([404, 'not_found']);
    expect(await outcome(transfer('file', 'file/below'))).toEqual([409, 'conflict']);
  });
});

test('deleting takes files and empty folders, full ones only when told so', async () => {
  for (const path of ['d/e/f', 'file']) await anna.put(path, 'x');
  const remove = (path: string, more = {}) => anna.call<FileBody>('DELETE', '/files', { path, ...more });
  expect((await remove('/file')).body).toEqual({ object: 'file.deleted', path: 'file', deleted: true });
  expect(await outcome(remove('file'))).toEqual([404, 'not_found']);
  expect(await outcome(remove('d'))).toEqual([409, 'conflict']);
  expect(await anna.names({ recursive: true })).toEqual(['d', 'd/e', 'd/e/f']);
  expect(await outcome(remove('d', { recursive: true }))).toEqual([200, undefined]);
  expect(await anna.names()).toEqual([]);
  await post('/files/mkdir', { path: 'empty' });
  expect(await outcome(remove('empty'))).toEqual([200, undefined]);
});

test.each<[string, string, object | undefined, string]>([
  ['GET', '/files/stat', undefined, 'path'],
  ['GET', '/files/content', undefined, 'path'],
  ['DELETE', '/files', undefined, 'path'],
  ['GET', '/files/search', undefined, 'query'],
  ['POST', '/files/mkdir', {}, 'path'],
  ['POST', '/files/move', { to: 'x' }, 'from'],
  ['POST', '/files/move', { from: 'x' }, 'to'],
  ['POST', '/files/copy', { to: 'x' }, 'from'],
  ['POST', '/files/copy', { from: 'x' }, 'to'],
])('%s %s with %j lacks %s', async (method, path, body, field) => {
  const reply = await anna.call(method, path, {}, body === undefined ? {} : { body });
  expect([reply.status, reply.body.error, reply.body.message]).toEqual([
    400,
    'validation_error',
    `${field}: is required`,
  ]);
});

describe('a search', () => {
  type Matches = { object: string; query: string; data: { path: string; match: string[]; excerpt: string }[] };
  const search = async (query: string, more = {}) =>
    (await anna.call<Matches>('GET', '/files/search', { query, ...more })).body;
  const paths = async (query: string, more = {}) => (await search(query, more)).data.map(({ path }) => path);

  test('finds names and text, and says which', async () => {
    await anna.put('needle.txt', 'nothing');
    await anna.put('plain.txt', 'one\nthe needle is here\nneedle again');
    await anna.put('deep/.hidden/needle.md', 'a needle');
    await anna.put('needles/other', 'nothing');
    const { object, query, data } = await search('needle');
    expect([object, query]).toEqual(['list', 'needle']);
    const dir = { object: 'file_match', path: 'needles', name: 'needles', match: ['name'], excerpt: 'needles' };
    expect(data).toEqual([
      {
        object: 'file_match',
        path: 'deep/.hidden/needle.md',
        name: 'needle.md',
        match: ['name', 'content'],
        excerpt: 'a needle',
      },
      { ...dir, path: 'needle.txt', name: 'needle.txt', excerpt: 'needle.txt' },
      dir,
      { object: 'file_match', path: 'plain.txt', name: 'plain.txt', match: ['content'], excerpt: 'the needle is here' },
    ]);
    expect(await paths('needle', { path: 'deep' })).toEqual(['deep/.hidden/needle.md']);
    expect(await paths('needle', { maxResults: 2 })).toEqual(['deep/.hidden/needle.md', 'needle.txt']);
    expect(await paths('Needle')).toEqual([]);
  });

  test('finds 20 unless told otherwise, and a listing holds 50', async () => {
    await anna.run('for n in $(seq -w 1 51); do echo needle > f$n; done');
    expect(await paths('needle')).toHaveLength(20);
    expect(await paths('needle', { maxResults: 100 })).toHaveLength(51);
    const { body } = await anna.call<FileList>('GET', '/files');
    expect(body.data).toHaveLength(50);
    expect(body.pagination).toMatchObject({ limit: 50, offset: 0, hasMore: true, total: 51 });
  });

  test('takes every sign as it stands', async () => {
    for (const [index, text] of [
      'a.b',
      'axb',
      '(x',
      '[y]',
      '$1 ^2',
      '--flag',
      '\\d+',
      'tab\there',
      '木"\'',
      '#& ~',
    ].entries())
      await anna.put(`f${index}`, `before ${text} after`);
    expect(await paths('a.b')).toEqual(['f0']);
    for (const [index, text] of [
      [2, '(x'],
      [3, '[y]'],
      [4, '$1 ^2'],
      [5, '--flag'],
      [6, '\\d+'],
      [7, 'tab\there'],
      [8, '木"\''],
      [9, '#& ~'],
    ] as const)
      expect([text, await paths(text)]).toEqual([text, [`f${index}`]]);
  });

  test('skips binary files, wherever in them the NUL is', async () => {
    await anna.run(
      `printf 'needle\\n%0200000d\\0' 0 > late; printf 'needle\\0' > early; printf 'needle \\377' > latin`,
    );
    await anna.put('text', 'needle');
    expect(await paths('needle')).toEqual(['text']);
  });

  test('cuts long lines around the match, and ignores no file', async () => {
    await anna.put('min.js', `${'x'.repeat(500_000)}needle${'y'.repeat(500_000)}`);
    await anna.put('.gitignore', '*');
    const { data } = await search('needle');
    expect(data.map(({ excerpt }) => excerpt)).toEqual([`${'x'.repeat(80)}needle${'y'.repeat(80)}`]);
  });

  test('without a volume finds nothing, without a query or past its bounds is refused', async () => {
    expect(await search('x')).toEqual({ object: 'list', query: 'x', data: [] });
    const refused: Record<string, string | number>[] = [
      {},
      { query: '' },
      { query: 'a\nb' },
      { query: 'x', maxResults: 101 },
      { query: 'x', maxResults: 0 },
    ];
    for (const query of refused)
      expect(await outcome(anna.call('GET', '/files/search', query))).toEqual([400, 'validation_error']);
    await anna.put('file', 'x');
    expect(await outcome(anna.call('GET', '/files/search', { query: 'x', path: 'no' }))).toEqual([404, 'not_found']);
    expect(await outcome(anna.call('GET', '/files/search', { query: 'x', path: 'file' }))).toEqual([
      400,
      'validation_error',
    ]);
  });
});
