import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { writeTar } from '../../../../src/agents/api/subjects/tar.ts';
import type { TarEntry } from '../../../../src/agents/api/subjects/tar.ts';

async function* list(entries: readonly TarEntry[]): AsyncGenerator<TarEntry> {
  yield* entries;
}

const entry = (path: string, text: string, sizeBytes = Buffer.byteLength(text)): TarEntry => ({
  path,
  modifiedMs: Date.parse('2026-01-31T09:30:00Z'),
  sizeBytes,
  body: [Buffer.from(text)],
});

test('tar unpacks what was written, whatever the names and sizes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'capstan-tar-'));
  try {
    const long = `${'d'.repeat(60)}/${'e'.repeat(60)}/${'x'.repeat(100)}.txt`;
    // Lengths around those at which the length of a record gets another digit.
    const edges = Array.from({ length: 20 }, (_item, index) => `é${'n'.repeat(80 + index)}`);
    const files = [entry('a', ''), entry('b/c', 'x'.repeat(512)), entry('日本/é ü', 'y'.repeat(513)), entry(long, 'z')];
    const all = [...files, ...edges.map((name) => entry(name, name))];
    writeFileSync(join(folder, 'all.tar'), await buffer(writeTar(list(all))));
    execFileSync('tar', ['-xf', 'all.tar'], { cwd: folder, env: { ...process.env, LC_ALL: 'C.UTF-8' } });
    for (const { path, body } of all) {
      expect([path, readFileSync(join(folder, path), 'utf8')]).toEqual([
        path,
        Buffer.concat([...(body as Buffer[])]).toString(),
      ]);
    }
    expect(statSync(join(folder, long)).mtime.toISOString()).toBe('2026-01-31T09:30:00.000Z');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each([
  ['shorter', 4],
  ['longer', 2],
])('a body that is %s than announced cuts the archive off', async (_name, sizeBytes) => {
  await expect(buffer(writeTar(list([entry('a', 'abc', sizeBytes)])))).rejects.toThrow('changed while it was exported');
});

/** The names for a reader that ignores the extended records. */
function listPlainNames(archive: Buffer): string[] {
  const names: string[] = [];
  for (let at = 0; archive[at] !== undefined && archive[at] !== 0;) {
    const field = archive.toString('latin1', at, at + 100);
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 135), 8);
    if (archive.toString('latin1', at + 156, at + 157) === '0') names.push(field.split('\0')[0] ?? '');
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return names;
}

test('no reader is led out of the folder, whichever names a sandbox has chosen', async () => {
  const tail = 'etc/cron.d/job';
  const names = Array.from({ length: 40 }, (_, index) => `files/é${'n'.repeat(index)}../${'m'.repeat(70)}/${tail}`);
  const archive = await buffer(writeTar(list([...names, 'files/é', 'files/..é'].map((name) => entry(name, 'x')))));
  const plain = listPlainNames(archive);
  expect(plain).toHaveLength(42);
  for (const name of plain) expect(name).toMatch(/^long-names\/(?!\.\.?$)[^/]+$/);
});

test.each(['../x', '/x', 'files/../../x', 'files/./x', 'files//x', 'files/x/..', 'files/\0', ''])(
  'the path %j is not written',
  async (path) => {
    await expect(buffer(writeTar(list([entry(path, 'x')])))).rejects.toThrow('leads out of the archive');
  },
);
