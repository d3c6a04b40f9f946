import { expect, it } from 'vitest';
import { buildFrameReader } from '../../src/inference/event-frames.ts';
import { ModelError } from '../../src/inference/model.ts';
import type { SseEvent } from '../../src/inference/upstream/dialect.ts';
import { chunk, damage } from '../support/foreign-bytes.ts';
import { encodeFrames } from '../support/model-server/encode-converse.ts';
import { fc } from '../support/property.ts';

const EVENTS = [
  { event: 'messageStart', data: '{"role":"assistant"}' },
  { event: 'contentBlockDelta', data: '{"delta":{"text":"Grüße 🌍"}}' },
];
const BYTES = encodeFrames(EVENTS);

async function read(chunks: Uint8Array[]): Promise<SseEvent[]> {
  const [reader, out] = [await buildFrameReader(), [] as SseEvent[]];
  for (const each of chunks) reader.push(each, out);
  reader.end(out);
  return out;
}

it('reads frames that are cut anywhere', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 20 }), async (cuts) => {
      expect(await read(chunk(BYTES, cuts))).toEqual(EVENTS);
    }),
  );
});

it('reads any damaged frames, or fails with an error of its own', async () => {
  await fc.assert(
    fc.asyncProperty(damage(BYTES), fc.array(fc.nat(), { maxLength: 5 }), async (bytes, cuts) => {
      const failure = await read(chunk(bytes, cuts)).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failure === undefined || failure instanceof ModelError).toBe(true);
    }),
  );
});

const withLength = (length: number) => {
  const bytes = Buffer.from(BYTES);
  bytes.writeUInt32BE(length, 0);
  return bytes;
};

it.each([
  ['a giant frame, before it has arrived', withLength(0x7fff_ffff), 'too large'],
  ['a frame without room for its checksums', withLength(3), 'broken frame'],
  ['a wrong checksum', Buffer.concat([BYTES.subarray(0, 20), Buffer.from([0xff]), BYTES.subarray(21)]), 'broken frame'],
  ['half a frame', BYTES.subarray(0, BYTES.length - 1), 'cut off'],
])('refuses %s', async (_, bytes, message) => {
  await expect(read([bytes])).rejects.toThrow(message);
});

it('an exception is an error with its name', async () => {
  const bytes = encodeFrames([{ event: 'throttlingException', data: '{"message":"slow down"}' }]);
  expect(await read([bytes])).toEqual([
    { event: 'error', data: '{"type":"throttlingException","message":"slow down"}' },
  ]);
});
