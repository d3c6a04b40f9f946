import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBeneath } from '../../../src/sandbox/process/open-beneath.ts';
import { makeScratch } from '../../support/scratch.ts';

describe('a file of a volume, opened from outside of its sandbox', () => {
  let scratch: string;
  let volume: string;
  beforeAll(() => {
    scratch = makeScratch('beneath');
    volume = `${scratch}/volume`;
    mkdirSync(`${volume}/a/b`, { recursive: true });
    mkdirSync(`${scratch}/outside`);
    writeFileSync(`${scratch}/outside/secret`, 'secret');
    writeFileSync(`${volume}/a/b/file`, 'inside');
    symlinkSync(`${scratch}/outside/secret`, `${volume}/link`);
    symlinkSync('../outside', `${volume}/folder`);
    symlinkSync('b', `${volume}/a/inner`);
    execFileSync('mkfifo', [`${volume}/pipe`]);
  });
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  const readBeneath = (path: string): string => {
    const fd = openBeneath(volume, path, constants.O_RDONLY);
    try {
      return readFileSync(fd, 'utf8');
    } finally {
      closeSync(fd);
    }
  };

  it('is read where it lies', () => {
    expect(readBeneath('a/b/file')).toBe('inside');
  });

  it.each([
    ['a link to a file', 'link'],
    ['a link in the middle', 'folder/secret'],
    ['a link inside the volume, which the executor would have resolved', 'a/inner/file'],
    ['the folder above', '../outside/secret'],
    ['the folder above in the middle', 'a/../../outside/secret'],
    ['an absolute path', '/etc/passwd'],
    ['a pipe, which nobody writes to', 'pipe'],
    ['a folder', 'a/b'],
    ['the volume itself', ''],
    ['the volume itself by its dot', '.'],
    ['a NUL', 'a/b/file\0'],
    ['what is not there', 'a/c'],
  ])('is refused where the path is %s', (_name, path) => {
    expect(() => readBeneath(path)).toThrow(/E[A-Z]+|not a /);
    expect(() => closeSync(openBeneath(volume, path, constants.O_WRONLY))).toThrow(/E[A-Z]+|not a /);
  });
});
