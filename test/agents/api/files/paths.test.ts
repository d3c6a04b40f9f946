import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFilesApi } from './harness.ts';
import type { FileBody, FilesApi, Subject } from './harness.ts';

let api: FilesApi;
let anna: Subject;
beforeAll(async () => {
  api = await openFilesApi();
  anna = api.subject();
  await anna.put('dir/file', 'x');
});
afterAll(() => api.close());

/** Every operation that takes a path, with the path in each of its places. */
const OPERATIONS: [string, (path: string) => Promise<{ status: number; body: { error?: string } }>][] = [
  ['list', (path) => anna.call('GET', '/files', { path })],
  ['stat', (path) => anna.call('GET', '/files/stat', { path })],
  ['read', (path) => anna.call('GET', '/files/content', { path })],
  ['search', (path) => anna.call('GET', '/files/search', { path, query: 'x' })],
  ['write', (path) => anna.put(path, 'x', { overwrite: true })],
  [
    'raw write',
    (path) =>
      anna.call(
        'PUT',
        '/files/content',
        { path },
        { headers: { 'content-type': 'application/octet-stream' }, body: 'x' },
      ),
  ],
  [
    'form',
    (path) => {
      const body = new FormData();
      body.append('file', new Blob(['x']), 'f');
      body.append('path', path);
      return anna.call('PUT', '/files/content', {}, { body });
    },
  ],
  ['mkdir', (path) => anna.call('POST', '/files/mkdir', {}, { body: { path } })],
  ['move from', (path) => anna.call('POST', '/files/move', {}, { body: { from: path, to: 'elsewhere' } })],
  ['move to', (path) => anna.call('POST', '/files/move', {}, { body: { from: 'dir/file', to: path } })],
  ['copy from', (path) => anna.call('POST', '/files/copy', {}, { body: { from: path, to: 'elsewhere' } })],
  ['copy to', (path) => anna.call('POST', '/files/copy', {}, { body: { from: 'dir/file', to: path } })],
  ['delete', (path) => anna.call('DELETE', '/files', { path, recursive: true })],
];
const CHANGES = OPERATIONS.filter(([name]) => !['list', 'stat', 'read', 'search', 'copy from'].includes(name));

describe.each(OPERATIONS)('%s', (_name, act) => {
  test.each([
    '..',
    '../x',
    'a/../b',
    '/..',
    'dir/..',
    'a/b/../../..',
    'x\0y',
    'x\ny',
    'x\u007f',
    'n'.repeat(256),
    'ä'.repeat(128),
    'd/'.repeat(3000),
  ])('refuses the path %j', async (path) => {
    const { status, body } = await act(path);
    expect([status, body.error]).toEqual([400, 'validation_error']);
  });
});

describe.each(CHANGES)('%s', (_name, act) => {
  test.each([
    'memories',
    'skills',
    '/memories/',
    'memories/x/y',
    './skills/a',
    '//memories/b',
    'skills/./x',
    '',
    '/',
    '.',
  ])('refuses the reserved path %j', async (path) => {
    const { status, body } = await act(path);
    expect([status, body.error]).toEqual([400, 'validation_error']);
  });
});

test('reserved folders can be read, and only the top-level ones are reserved', async () => {
  await anna.run('mkdir -p memories skills; echo note > memories/USER.md');
  expect(await anna.text('memories/USER.md')).toBe('note\n');
  expect(await anna.names({ path: 'memories' })).toEqual(['memories/USER.md']);
  expect(
    (await anna.call('POST', '/files/copy', {}, { body: { from: 'memories/USER.md', to: 'copy.md' } })).status,
  ).toBe(200);
  for (const path of ['dir/memories/x', 'memories.txt', 'Skills/x', 'ｍemories/x']) {
    expect((await anna.put(path, 'x')).status).toBe(200);
  }
});

test('a reserved folder is not changed through a link to it either', async () => {
  await anna.run('ln -s memories by-link; ln -s ../skills dir/deep-link');
  const through: [string, Promise<{ status: number }>][] = [
    ['write', anna.put('by-link/new', 'x')],
    ['write with parents', anna.put('by-link/a/b/c', 'x')],
    ['overwrite', anna.put('by-link/USER.md', 'x', { overwrite: true })],
    ['deep', anna.put('dir/deep-link/new', 'x')],
    ['mkdir', anna.call('POST', '/files/mkdir', {}, { body: { path: 'by-link/folder' } })],
    ['delete', anna.call('DELETE', '/files', { path: 'by-link/USER.md' })],
    ['move away', anna.call('POST', '/files/move', {}, { body: { from: 'by-link/USER.md', to: 'stolen' } })],
    ['move in', anna.call('POST', '/files/move', {}, { body: { from: 'copy.md', to: 'by-link/in' } })],
    ['copy in', anna.call('POST', '/files/copy', {}, { body: { from: 'copy.md', to: 'dir/deep-link/in' } })],
  ];
  for (const [name, reply] of through) expect([name, (await reply).status]).toEqual([name, 400]);
  expect(await anna.run('find memories skills | sort')).toBe('memories\nmemories/USER.md\nskills\n');
});

test('names are taken as they are: unicode forms, signs, tilde, dots', async () => {
  const names = [
    'é',
    'e\u0301',
    '~',
    '~root',
    '..x',
    '...',
    'a b',
    '%2e%2e',
    '\\..\\x',
    '$(id)',
    '-rf',
    '*',
    "'",
    '\u202etxt',
    '😀',
    'workspace',
  ];
  const own = api.subject();
  for (const name of names) expect([name, (await own.put(name, name)).body.path]).toEqual([name, name]);
  expect((await own.names({ limit: 100 })).sort()).toEqual([...names].sort());
  for (const name of names) {
    expect(await own.text(`/${name}`)).toBe(name);
    expect((await own.call<FileBody>('DELETE', '/files', { path: name })).body.path).toBe(name);
  }
  expect(await own.names()).toEqual([]);
});

test('the longest names work', async () => {
  const own = api.subject();
  const path = Array.from({ length: 16 }, () => 'x'.repeat(250))
    .join('/')
    .slice(0, 4000);
  expect((await own.put(path, 'deep')).status).toBe(200);
  expect(await own.text(path)).toBe('deep');
  expect((await own.call('DELETE', '/files', { path: path.slice(0, 250), recursive: true })).status).toBe(200);
});

/** As it is on the wire: clients would normalize it. */
function getRaw(target: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const url = new URL(api.url);
    request({ host: url.hostname, port: url.port, path: target, headers: { 'x-api-key': api.key } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

test.each([
  '..%2f..%2fetc%2fpasswd',
  '%2e%2e/x',
  '%2e%2e%2fx',
  'a/%2e%2e/%2e%2e/x',
  '..',
  '/../../etc/passwd',
  '%00',
  'a%00b',
  '%c0%ae%c0%ae/x',
])('a path encoded as %s leads nowhere', async (path) => {
  const prefix = `/v1/agents/${api.agentId}/users/${encodeURIComponent(anna.id)}`;
  expect([400, 404]).toContain(await getRaw(`${prefix}/files/content?path=${path}`));
});

test('subjects do not see each other, whatever they are called', async () => {
  const ids = ['a', 'A', '../a', 'a/b', '%2e%2e', '...', 'ä', '木'.repeat(200)];
  const subjects = ids.map((id) => api.subject(id));
  // sequential: there are more volumes than standbys
  for (const subject of subjects) expect((await subject.put('own', subject.id)).status).toBe(200);
  for (const subject of subjects) expect([subject.id, await subject.text('own')]).toEqual([subject.id, subject.id]);
  for (const subject of subjects) expect(await subject.names()).toEqual(['own']);
});

test("another organization's agent does not exist, a key needs its scope", async () => {
  const init = { key: api.otherKey };
  expect((await anna.call('GET', '/files', {}, init)).body.error).toBe('not_found');
  expect((await anna.call('GET', '/volume', {}, init)).body.error).toBe('not_found');
  const reader = { key: await api.makeKey(['agents:read']) };
  expect((await anna.call('GET', '/files', {}, reader)).status).toBe(200);
  const body = { path: 'x', content: '' };
  expect((await anna.call('PUT', '/files/content', {}, { ...reader, body })).body.error).toBe('forbidden');
  const writer = { key: await api.makeKey(['agents:write']) };
  expect((await anna.call('GET', '/files', {}, writer)).body.error).toBe('forbidden');
});
