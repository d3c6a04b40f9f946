import type { EventStreamCodec } from '@smithy/core/event-streams';
import { isRecord } from '../platform/records.ts';
import { ModelError } from './model.ts';
import type { EventReader } from './sse.ts';
import type { SseEvent } from './upstream/dialect.ts';

/** Maximum bytes of one frame. */
const MAX_FRAME = 16 * 1024 * 1024;
/** Two lengths, two checksums: no frame is shorter. */
const MIN_FRAME = 16;

type Message = ReturnType<EventStreamCodec['decode']>;

function broken(cause?: unknown): ModelError {
  return new ModelError('upstream', 'The provider sent a broken frame of its event stream.', { cause });
}

function readHeader({ headers }: Message, name: string): string {
  const header = headers[name];
  return header?.type === 'string' ? header.value : '';
}

function readMessage(data: string): string {
  try {
    const value: unknown = JSON.parse(data);
    return isRecord(value) && typeof value['message'] === 'string' ? value['message'] : '';
  } catch {
    return '';
  }
}

/** Exceptions and errors become an event `error` with their name as `type`. */
function readEvent(message: Message): SseEvent {
  const data = Buffer.from(message.body).toString('utf8');
  const kind = readHeader(message, ':message-type');
  if (kind === 'event') return { event: readHeader(message, ':event-type'), data };
  const name = readHeader(message, ':exception-type') || readHeader(message, ':error-code');
  return { event: 'error', data: JSON.stringify({ type: name, message: readMessage(data) }) };
}

/** Cuts AWS's binary event stream (`application/vnd.amazon.eventstream`) into frames and checks each of them. */
class FrameReader implements EventReader {
  readonly #codec: EventStreamCodec;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  /** of the frame that is arriving; 0: not known yet */
  #wanted = 0;

  constructor(codec: EventStreamCodec) {
    this.#codec = codec;
  }

  #join(): Buffer {
    const whole = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#chunks.length = 0;
    this.#chunks.push(whole);
    return whole;
  }

  #readLength(): void {
    if (this.#wanted !== 0 || this.#size < 4) return;
    this.#wanted = this.#join().readUInt32BE(0);
    if (this.#wanted < MIN_FRAME) throw broken();
    if (this.#wanted > MAX_FRAME) throw new ModelError('upstream', 'The provider sent an event that is too large.');
  }

  #decode(frame: Uint8Array): Message {
    try {
      return this.#codec.decode(frame);
    } catch (cause) {
      throw broken(cause);
    }
  }

  push(chunk: Uint8Array, out: SseEvent[]): void {
    this.#chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    this.#size += chunk.byteLength;
    for (this.#readLength(); this.#wanted !== 0 && this.#size >= this.#wanted; this.#readLength()) {
      const whole = this.#join();
      out.push(readEvent(this.#decode(whole.subarray(0, this.#wanted))));
      this.#chunks[0] = whole.subarray(this.#wanted);
      this.#size -= this.#wanted;
      this.#wanted = 0;
    }
  }

  end(): void {
    if (this.#size > 0) throw new ModelError('upstream', "The provider's reply was cut off.");
  }
}

export const FRAMES_TYPE = 'application/vnd.amazon.eventstream';

/** Loads the decoder with the first call. */
export async function buildFrameReader(): Promise<EventReader> {
  const { EventStreamCodec: Codec } = await import('@smithy/core/event-streams');
  const toText = (bytes: Uint8Array | string) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString());
  return new FrameReader(new Codec(toText, (text) => Buffer.from(text)));
}
