import { expect, test } from 'vitest';
import { isRecord, omitUndefined } from '../../src/platform/records.ts';

test('a record is an object with named fields', () => {
  expect([{}, Object.create(null), { a: 1 }].every(isRecord)).toBe(true);
  expect([null, undefined, [], 'a', 1].some(isRecord)).toBe(false);
});

test('undefined fields are left out; every other value stays', () => {
  expect(omitUndefined({ a: undefined, b: null, c: 0, d: '', e: false })).toStrictEqual({
    b: null,
    c: 0,
    d: '',
    e: false,
  });
});
