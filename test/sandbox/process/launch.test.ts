import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findStartFailure } from '../../../src/sandbox/process/launch.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'capstan-launch-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function writeProgram(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

test('a program that does not end in time is named as the reason', async () => {
  const failure = await findStartFailure(writeProgram('endless', 'exec sleep 600'), undefined, 200);
  expect(failure).toBe('an empty sandbox did not end within 0.2 s');
});

test('the reason of a program that fails is what it says', async () => {
  expect(await findStartFailure(writeProgram('refused', 'echo "no user namespaces" >&2; exit 1'), undefined)).toBe(
    'no user namespaces',
  );
  expect(await findStartFailure(writeProgram('silent', 'exit 1'), undefined)).toBe('no reason given');
  expect(await findStartFailure(join(folder, 'absent'), undefined)).toContain('ENOENT');
});

test('a program that succeeds has no reason', async () => {
  expect(await findStartFailure(writeProgram('works', 'exit 0'), undefined)).toBeUndefined();
});
