import { afterAll, beforeAll, expect, test } from 'vitest';
import { openFilesApi } from './harness.ts';
import type { FileBody, FilesApi, Subject } from './harness.ts';

let api: FilesApi;
let anna: Subject;
beforeAll(async () => {
  api = await openFilesApi();
  anna = api.subject();
});
afterAll(() => api.close());

type FileList = { data: FileBody[]; pagination: { hasMore: boolean; nextCursor: string | null } };

const refuse = async (query: Record<string, string | number>) => {
  const { status, body } = await anna.call<{ error?: string }>('GET', '/files', query);
  return [status, body.error];
};

test('a listing is read by cursor to its end, whatever is added or removed before the place', async () => {
  for (const path of ['b', 'd', 'f/inner', 'h/inner']) await anna.put(path, 'x');
  const seen: string[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < 10; page += 1) {
    const query: Record<string, string | number> = { limit: 1, ...(cursor === null ? {} : { cursor }) };
    const { body } = await anna.call<FileList>('GET', '/files', query);
    seen.push(...body.data.map(({ name }) => name));
    expect(body.pagination.hasMore).toBe(body.pagination.nextCursor !== null);
    expect(Object.keys(body.pagination).includes('total')).toBe(cursor === null);
    cursor = body.pagination.nextCursor;
    if (cursor === null) break;
    // The place itself disappears, one is added before it and one behind it.
    if (seen.at(-1) === 'f') await anna.call('DELETE', '/files', { path: 'f', recursive: true });
    if (seen.at(-1) === 'b') for (const path of ['a', 'c']) await anna.put(path, 'x');
  }
  expect(seen).toEqual(['f', 'h', 'b', 'c', 'd']);
  const first = await anna.call<FileList>('GET', '/files', { limit: 1 });
  const both = { cursor: String(first.body.pagination.nextCursor), offset: 0 };
  expect(await refuse(both)).toEqual([400, 'validation_error']);
  expect(await refuse({ cursor: 'WyJ4Il0' })).toEqual([400, 'validation_error']);
});
