import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { takeLock } from '../../../src/backends/db/lock.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'capstan-lock-'));
  path = join(folder, 'db.lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

it('is taken once, and again after its release', () => {
  const lock = takeLock(path, 'The database');
  expect(() => takeLock(path, 'The database')).toThrow(`The database is in use by process ${process.pid}.`);
  lock.release();
  takeLock(path, 'The database').release();
  expect(existsSync(path)).toBe(false);
});

it('is taken over from a process that is no more', () => {
  writeFileSync(path, JSON.stringify({ pid: 2 ** 22 + 1, startTime: '1' }));
  takeLock(path, 'The database');
  expect(readFileSync(path, 'utf8')).toContain(`"pid":${process.pid}`);
});

it.runIf(existsSync('/proc/self/stat'))(
  'is taken over when another process has the number of the holder by now',
  () => {
    writeFileSync(path, JSON.stringify({ pid: process.ppid, startTime: '1' }));
    takeLock(path, 'The database');
    expect(readFileSync(path, 'utf8')).toContain(`"pid":${process.pid}`);
  },
);

it('is taken over when its file is no lock at all', () => {
  writeFileSync(path, '');
  takeLock(path, 'The database');
  expect(readFileSync(path, 'utf8')).toContain(`"pid":${process.pid}`);
});
