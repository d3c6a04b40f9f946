import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sealProgram } from '../../../src/sandbox/process/sealed-program.ts';
import { makeScratch } from '../../support/scratch.ts';

test('a sealed program can be run, but not read, and is made once however many ask for it', async () => {
  const dir = makeScratch('sealed');
  const paths = await Promise.all(Array.from({ length: 8 }, () => sealProgram(process.execPath, dir)));
  expect(new Set(paths).size).toBe(1);
  const [path = ''] = paths;
  expect(readdirSync(dir)).toHaveLength(1);
  expect(statSync(path).mode & 0o777).toBe(0o111);
  expect(execFileSync(path, ['-p', '1 + 1'], { encoding: 'utf8' })).toBe('2\n');
  rmSync(dir, { recursive: true });
});
