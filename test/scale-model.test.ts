import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, ['bench/scale-model.ts', ...args])).stdout;

/** Without the padding of tables. */
const squeeze = (text: string): string => text.replaceAll(/ *\| */g, '|').replaceAll(/\|:?-+/g, '|-');

test('the page on scale has the table that the model prints', async () => {
  const table = squeeze(await run()).trim();
  expect(squeeze(readFileSync('docs/scale.md', 'utf8'))).toContain(table);
});

test('the model takes other sizes and assumptions, and refuses what it does not know', async () => {
  const nodes = async (...args: string[]) => /nodes of .*\| (.*) \|/.exec(await run(...args))?.[1];
  expect(await nodes('7500')).toBe('100');
  expect(await nodes('7500', 'PODS_PER_NODE=50')).toBe('150');
  await expect(run('PAUSES=3')).rejects.toThrow('PAUSES: not one of PAUSE, CALLS');
  await expect(run('PAUSE=many')).rejects.toThrow('must be a number above 0');
});
