import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { openFiles } from '../../../src/platform/objects/files.ts';
import type { Objects } from '../../../src/platform/objects/objects.ts';

let dir: string;
let objects: Objects;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'capstan-files-'));
  objects = await openFiles({ dir });
});
afterEach(() => rm(dir, { recursive: true }));

const TEXT = { contentType: 'text/plain' };
async function listKeys(): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of objects.list('')) keys.push(key);
  return keys;
}

it('lists in the order of whole keys, where a folder sorts as its name and a slash', async () => {
  const inOrder = ['a', 'a-1', 'a.b', 'a/1', 'a/b/c', 'a0', 'type'];
  for (const key of inOrder.toReversed()) await objects.put(key, Buffer.from(key), TEXT);
  expect(await listKeys()).toEqual(inOrder);
});

it('keeps an object and those below its name apart', async () => {
  for (const key of ['a', 'a/b', 'a/b/c']) await objects.put(key, Buffer.from(key), TEXT);
  await objects.delete('a/b');
  expect(await listKeys()).toEqual(['a', 'a/b/c']);
});

it('leaves no empty folders and no drafts behind', async () => {
  await objects.put('a/b/c', Buffer.from('x'), TEXT);
  await objects.delete('a/b/c');
  expect(await readdir(dir, { recursive: true })).toEqual(['@drafts']);
});

it('puts while the last object of the folder is deleted', async () => {
  for (let turn = 0; turn < 30; turn += 1) {
    await objects.put('x/y/one', Buffer.from('1'), TEXT);
    await Promise.all([objects.delete('x/y/one'), objects.put('x/y/two', Buffer.from('2'), TEXT)]);
    expect(await listKeys()).toEqual(['x/y/two']);
    await objects.delete('x/y/two');
  }
});
