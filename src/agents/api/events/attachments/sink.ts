import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Objects } from '../../../../platform/objects/objects.ts';
import { ATTACHMENT_MAX_BYTES, writeReference } from '../../../contract/attachments.ts';
import { errors } from '../../../../platform/errors.ts';
import type { Sink } from './reduce.ts';

/** The beginning and the end of an attachment: what tells its type. */
export type Ends = { head: Uint8Array; tail: Uint8Array };

const END_BYTES = 64 * 1024;
const UNKEPT = 'The attachments cannot be kept.';

/**
 * Decodes base64 into an object. What is no base64 leaves nothing behind and stands in the request as empty text; what
 * is too big leaves nothing behind either, and its size in the reference says so: the request is then refused for it.
 */
export function openSink(
  objects: Objects,
  key: string,
  mediaType: string,
  onStored: (reference: string, ends: Ends) => void,
): Sink {
  const body = new PassThrough({ highWaterMark: 1024 * 1024 });
  const stored = objects.put(key, body, { contentType: mediaType });
  stored.catch(() => {});
  const hash = createHash('sha256');
  let rest = '';
  let size = 0;
  let valid = true;
  let padded = false;
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);

  const take = async (base64: string): Promise<void> => {
    if (base64 === '' || !valid) return;
    const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
    const bytes = Buffer.from(base64, 'base64');
    valid = !padded && bytes.length === (base64.length / 4) * 3 - padding;
    padded = padding > 0;
    size += bytes.length;
    if (!valid || size > ATTACHMENT_MAX_BYTES) return;
    if (head.length < END_BYTES) head = Buffer.concat([head, bytes]).subarray(0, END_BYTES);
    tail = Buffer.concat([tail, bytes.subarray(-END_BYTES)]).subarray(-END_BYTES);
    hash.update(bytes);
    if (!body.write(bytes)) await Promise.race([once(body, 'drain'), stored]);
  };
  const drop = async (): Promise<void> => {
    body.destroy();
    await stored.catch(() => {});
    await objects.delete(key);
  };

  return {
    async write(piece) {
      const text = rest + piece.toString('latin1');
      const whole = text.length - (text.length % 4);
      rest = text.slice(whole);
      await take(text.slice(0, whole)).catch((cause: unknown) => {
        throw errors.unavailable(UNKEPT, cause);
      });
    },
    async end() {
      valid &&= rest === '';
      const isKept = valid && size <= ATTACHMENT_MAX_BYTES;
      const reference = writeReference({ mediaType, sizeBytes: size, sha256: hash.digest('hex'), key });
      try {
        if (!isKept) await drop();
        else {
          body.end();
          await stored;
        }
      } catch (cause) {
        throw errors.unavailable(UNKEPT, cause);
      }
      if (isKept) onStored(reference, { head, tail });
      return valid ? reference : '';
    },
    abort: () => void drop().catch(() => {}),
  };
}
