import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forgetPages } from '../../../src/agents/tools/files/seen-files.ts';
import { openToolSession } from '../../support/tools.ts';

let session: Awaited<ReturnType<typeof openToolSession>>;
beforeAll(async () => {
  session = await openToolSession();
});
afterAll(() => session.close());

describe('read_file', () => {
  test('numbers lines, counts a last line without newline, and names the next offset', async () => {
    await session.write('n.txt', '\uFEFFone\r\ntwo\r\nthree');
    const first = await session.call('read_file', { path: 'n.txt', limit: '2' });
    expect(first.value).toMatchObject({
      content: '1|one\n2|two',
      total_lines: 3,
      truncated: true,
      hint: expect.stringContaining('offset=3') as string,
    });
    const rest = await session.call('read_file', { path: '/workspace/n.txt', offset: 3 });
    expect(rest.value).toMatchObject({ content: '3|three', total_lines: 3, truncated: false });
  });

  test('cuts a long line and refuses too much at once', async () => {
    await session.write('long.txt', `${'x'.repeat(5000)}\n${`${'y'.repeat(1500)}\n`.repeat(100)}`);
    expect((await session.call('read_file', { path: 'long.txt', limit: 1 })).value['content']).toBe(
      `1|${'x'.repeat(2000)}... [truncated]`,
    );
    const all = await session.call('read_file', { path: 'long.txt', limit: 9999 });
    expect(all).toMatchObject({ isError: true, value: { total_lines: 101, file_size: 155_101 } });
  });

  test('says unchanged once, then refuses, until the file or the conversation is another', async () => {
    const read = () => session.call('read_file', { path: 'same.txt' });
    await session.write('same.txt', 'a\n');
    expect((await read()).value).toMatchObject({ content: '1|a' });
    expect((await read()).value).toMatchObject({ status: 'unchanged', dedup: true, content_returned: false });
    expect(await read()).toMatchObject({
      isError: true,
      value: { error: expect.stringContaining('BLOCKED') as string },
    });
    await session.write('same.txt', 'b\n');
    expect((await read()).value).toMatchObject({ content: '1|b' });
    forgetPages(session.state);
    expect((await read()).value).toMatchObject({ content: '1|b' });
  });

  test('suggests names for a missing file and refuses what is no text', async () => {
    await session.shell(
      'mkdir -p sug && touch sug/config.ts sug/other.md && printf "a\\0b" > sug/blob && touch sug/zu.png',
    );
    expect((await session.call('read_file', { path: 'sug/config.js' })).value['similar_files']).toEqual([
      'sug/config.ts',
    ]);
    expect((await session.call('read_file', { path: 'sug/blob' })).isError).toBe(true);
    expect((await session.call('read_file', { path: 'sug/zu.png' })).value).toMatchObject({ is_image: true });
    expect((await session.call('read_file', { path: '/dev/zero' })).isError).toBe(true);
    expect((await session.call('read_file', { path: '../../etc/passwd' })).value['error']).toContain(
      'outside the workspace',
    );
  });
});

describe('write_file', () => {
  test('makes folders, keeps line ends and mark, and checks JSON', async () => {
    const made = await session.call('write_file', { path: 'w/x.json', content: '{"a": 1,}' });
    expect(made.value).toMatchObject({
      bytes_written: 9,
      dirs_created: true,
      resolved_path: '/workspace/w/x.json',
      lint: { status: 'error' },
    });
    await session.write('crlf.txt', '\uFEFFa\r\nb\r\n');
    await session.call('write_file', { path: 'crlf.txt', content: 'a\nc\n' });
    expect(await session.read('crlf.txt')).toBe('\uFEFFa\r\nc\r\n');
  });

  test('warns when something else changed the file since it was read', async () => {
    await session.call('write_file', { path: 'warn.txt', content: '1' });
    expect((await session.call('write_file', { path: 'warn.txt', content: '2' })).value).not.toHaveProperty('_warning');
    await session.shell('sleep 0.02; echo other > warn.txt');
    expect((await session.call('write_file', { path: 'warn.txt', content: '3' })).value['_warning']).toContain(
      'changed by something else',
    );
  });

  test('refuses its own note and reserved folders', async () => {
    const stub = JSON.stringify({ status: 'unchanged', dedup: true, content_returned: false });
    expect((await session.call('write_file', { path: 'warn.txt', content: stub })).isError).toBe(true);
    for (const path of ['memories/MEMORY.md', '/workspace/skills/x', './memories', '~/skills/y']) {
      expect((await session.call('write_file', { path, content: 'x' })).isError).toBe(true);
    }
    expect(await session.sandbox.stat('memories')).toBeUndefined();
  });
});

describe('patch', () => {
  test('replaces in a CRLF file and shows the difference', async () => {
    await session.write('p.txt', 'one\r\ntwo\r\nthree\r\n');
    const result = await session.call('patch', {
      mode: 'replace',
      path: 'p.txt',
      old_string: 'two\nthree',
      new_string: '2\n3',
    });
    expect(result.value).toMatchObject({
      success: true,
      files_modified: ['/workspace/p.txt'],
      diff: expect.stringContaining('-two\n-three\n+2\n+3') as string,
    });
    expect(await session.read('p.txt')).toBe('one\r\n2\r\n3\r\n');
  });

  test('a miss shows the closest places, and the third one says to read the file', async () => {
    await session.write('m.txt', 'function alpha() {\n  return 1;\n}\n');
    const miss = () =>
      session.call('patch', {
        mode: 'replace',
        path: 'm.txt',
        old_string: 'funktion alpah(x, y, z) -> q {{{\nzzzzzz\nqqqqq',
        new_string: 'x',
      });
    const first = await miss();
    expect(first).toMatchObject({
      isError: true,
      value: { success: false, error: expect.stringContaining('1|function alpha() {') as string },
    });
    expect(first.value).not.toHaveProperty('_hint');
    await miss();
    expect((await miss()).value).toHaveProperty('_hint');
  });

  const V4A =
    '*** Begin Patch\n*** Update File: v/a.txt\n@@\n-one\n+ONE\n*** Add File: v/new/b.txt\n+fresh\n*** Delete File: v/d.txt\n*** Move File: v/e.txt -> v/f.txt\n*** End Patch';

  test('a V4A patch changes, adds, deletes and moves', async () => {
    await session.shell('rm -rf v; mkdir v; echo one > v/a.txt; chmod 750 v/a.txt; echo d > v/d.txt; echo e > v/e.txt');
    const result = await session.call('patch', { mode: 'patch', patch: V4A });
    expect(result.value).toMatchObject({
      success: true,
      files_modified: ['/workspace/v/a.txt'],
      files_created: ['/workspace/v/new/b.txt', '/workspace/v/f.txt'],
      files_deleted: ['/workspace/v/d.txt', '/workspace/v/e.txt'],
    });
    expect(await session.shell('cd /workspace/v; find . -type f | sort | xargs head; stat -c %a a.txt')).toBe(
      '==> ./a.txt <==\nONE\n\n==> ./f.txt <==\ne\n\n==> ./new/b.txt <==\nfresh\n750\n',
    );
  });

  test('a V4A patch with one bad operation changes nothing at all', async () => {
    await session.shell('cd /workspace; rm -rf v; mkdir v; echo one > v/a.txt; echo e > v/e.txt');
    const result = await session.call('patch', { mode: 'patch', patch: V4A });
    expect(result).toMatchObject({
      isError: true,
      value: { success: false, error: expect.stringContaining('v/d.txt: file not found') as string },
    });
    expect(await session.shell('cd /workspace/v; find . -type f | sort; cat a.txt')).toBe('./a.txt\n./e.txt\none\n');
  });
});

describe('search_files', () => {
  test('tells how much there is beyond the page, and stops repeats', async () => {
    await session.shell('cd /workspace; mkdir -p s; for i in $(seq 70); do echo "hit $i" > s/$i.txt; done');
    const search = () => session.call('search_files', { pattern: 'hit', path: 's' });
    const first = await search();
    expect(first.value).toMatchObject({ total_count: 70, truncated: true });
    expect(first.value['matches']).toHaveLength(50);
    expect(first.text).toContain('Use offset=50');
    await search();
    expect((await search()).value).toHaveProperty('_warning');
    expect((await search()).isError).toBe(true);
    expect(
      (await session.call('search_files', { pattern: '7*.txt', target: 'find', path: 's' })).value['total_count'],
    ).toBe(2);
    expect((await session.call('search_files', { pattern: 'hit', path: 'sx' })).isError).toBe(true);
    expect((await session.call('search_files', { pattern: '(' })).isError).toBe(true);
  });
});
