import { expect, it } from 'vitest';
import { orderByKey } from '../../src/inference/affinity.ts';

const upstreams = ['a', 'b', 'c', 'd'].map((name) => ({ name }));
const namesFor = (key: string, list = upstreams) => orderByKey(key, list).map(({ name }) => name);

it('orders the upstreams of a key the same way each time, whatever their order in the configuration', () => {
  expect(namesFor('session')).toEqual(namesFor('session', upstreams.toReversed()));
});

it('moves only the conversations of an upstream that is removed', () => {
  const keys = Array.from({ length: 200 }, (_, index) => `session-${index}`);
  const left = upstreams.filter(({ name }) => name !== 'b');
  for (const key of keys) expect(namesFor(key, left)).toEqual(namesFor(key).filter((name) => name !== 'b'));
});

it('spreads conversations over all upstreams', () => {
  const first = new Set(Array.from({ length: 200 }, (_, index) => namesFor(`session-${index}`)[0]));
  expect(first.size).toBe(upstreams.length);
});
