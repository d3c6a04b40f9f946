import { expect, test } from 'vitest';
import { OwnWrites } from '../../../operator/runtime/own-writes.ts';

test('a status is our own whether its event comes before or after the response, and somebody else’s otherwise', async () => {
  let cached: string | undefined = '10';
  const foreign: string[] = [];
  const writes = new OwnWrites(
    () => cached,
    (key) => foreign.push(key),
  );
  expect(writes.isOwn('sessions/x', '10')).toBe(false);
  await writes.track('sessions/x', async () => '11');
  expect(writes.isOwn('sessions/x', '11')).toBe(true);
  expect(writes.isOwn('sessions/x', '12')).toBe(false);
  await writes.track('sessions/x', async () => {
    cached = '13';
    expect(writes.isOwn('sessions/x', '13')).toBe(true);
    return '13';
  });
  expect(foreign).toEqual([]);
  await writes.track('sessions/x', async () => {
    cached = '15';
    return '14';
  });
  expect(foreign).toEqual(['sessions/x']);
  writes.forget('sessions/x');
  expect(writes.isOwn('sessions/x', '14')).toBe(false);
});

test('a failed write leaves nothing behind', async () => {
  const writes = new OwnWrites(
    () => '10',
    () => undefined,
  );
  await expect(writes.track('volumes/v', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(writes.isOwn('volumes/v', '11')).toBe(false);
});
