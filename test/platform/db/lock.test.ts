import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { takeLock } from '../../../src/platform/db/lock.ts';

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

it.runIf(existsSync('/proc/self/stat'))('is taken over from a killed process that nobody has reaped', async () => {
  // The shell replaces itself with a program that never reaps its child.
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    const readState = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    writeFileSync(path, JSON.stringify({ pid, startTime: readState()[19] }));
    expect(() => takeLock(path, 'The database')).toThrow(`The database is in use by process ${pid}.`);

    process.kill(pid, 'SIGKILL');
    await expect.poll(() => readState()[0]).toBe('Z');
    takeLock(path, 'The database');
    expect(readFileSync(path, 'utf8')).toContain(`"pid":${process.pid}`);
  } finally {
    parent.kill('SIGKILL');
  }
});

it('is taken over when its file is no lock at all', () => {
  writeFileSync(path, '');
  takeLock(path, 'The database');
  expect(readFileSync(path, 'utf8')).toContain(`"pid":${process.pid}`);
});
