import { expect, test } from 'vitest';
import { Metadata } from '../../../src/platform/contract/common.ts';
import { describeIssues } from '../../../src/platform/contract/validation.ts';

const buildKeys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, at]));

function describe(value: unknown): string {
  const { error } = Metadata.safeParse(value);
  return error === undefined ? 'valid' : describeIssues(error, 'metadata');
}

test('metadata has at most 512 entries, and 10,000 values at all depths', () => {
  expect(describe(buildKeys(512))).toBe('valid');
  expect(describe(buildKeys(513))).toBe('metadata: must be at most 512 entries');
  expect(describe({ inner: buildKeys(9999) })).toBe('valid');
  expect(describe({ inner: { list: Object.values(buildKeys(60_000)) } })).toBe(
    'metadata: must hold at most 10000 values',
  );
});
