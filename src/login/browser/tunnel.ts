// Tests: test/login/one-submit-tls.test.ts
import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What a site owes the browser. `nothing`: no typed values were sent. `unknown`: they may be on their way.
 * `answer`: a request with them, or one that may hold them, is unanswered.
 */
export type Owed = 'nothing' | 'unknown' | 'answer';

const LOOK_EVERY_MS = 20;
/** ms that the browser gets to report a request whose bytes were seen here, or its response */
const REPORT_MS = { unanswered: 2000, answered: 300 };
/** ms that the browser gets to report a response to a request, where bytes have come since: those may be part of one */
const RESPONSE_MS = 3000;

const HANDSHAKE = 22;
const ALERT = 21;
const DATA = 23;
const HEADER_BYTES = 5;
/** An encrypted alert of TLS 1.3: two bytes, the content type and the tag of the cipher. */
const MAX_ALERT_BYTES = 19;
/** A record that no key decrypts. The browser reports a TLS error, which unlike a lost connection is never retried. */
const INVALID_RECORD = Buffer.concat([Buffer.from([DATA, 3, 3, 0, 64]), Buffer.alloc(64, 0x5a)]);

/** Finds the ends of TLS records in a stream. */
class RecordReader {
  #header = Buffer.alloc(0);
  /** bytes of the current record that are still to come */
  #left = 0;
  #isFirst = true;
  #isTls = true;

  get isTls(): boolean {
    return this.#isTls;
  }

  /** Reads on. Returns the length of the last record if it ends here and may be an alert; 0 otherwise. */
  read(chunk: Buffer): number {
    let tail = 0;
    for (let at = 0; at < chunk.length && this.#isTls;) {
      tail = 0;
      if (this.#left > 0) {
        const read = Math.min(this.#left, chunk.length - at);
        this.#left -= read;
        at += read;
        continue;
      }
      const missing = HEADER_BYTES - this.#header.length;
      const whole = this.#header.length === 0;
      this.#header = Buffer.concat([this.#header, chunk.subarray(at, at + missing)]);
      at += missing;
      if (this.#header.length < HEADER_BYTES) break;
      const [type = 0] = this.#header;
      this.#left = this.#header.readUInt16BE(3);
      this.#header = Buffer.alloc(0);
      if (this.#isFirst && type !== HANDSHAKE && type !== ALERT) this.#isTls = false;
      this.#isFirst = false;
      const isAlert = type === ALERT || (type === DATA && this.#left <= MAX_ALERT_BYTES);
      if (whole && isAlert && at + this.#left === chunk.length) {
        tail = HEADER_BYTES + this.#left;
        this.#left = 0;
        break;
      }
    }
    return tail;
  }
}

/** The bytes from a site to the browser. An end without a response to a submit becomes an error that is not retried. */
class AnswerStream extends Transform {
  readonly #readOwed: () => Owed;
  readonly #records = new RecordReader();
  #held = Buffer.alloc(0);
  /** bytes have come since the browser sent the last ones */
  #isAnswered = false;
  #isBroken = false;
  #decisions = 0;

  constructor(readOwed: () => Owed) {
    super();
    this.#readOwed = readOwed;
  }

  /** The browser has sent something. */
  noteRequest(): void {
    this.#isAnswered = false;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.#isBroken) return done();
    this.#decisions += 1;
    const tail = this.#records.read(chunk);
    const bytes = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    const heldBytes = tail > 0 && this.#readOwed() !== 'nothing' ? tail : 0;
    const passed = bytes.subarray(0, bytes.length - heldBytes);
    this.#held = Buffer.from(bytes.subarray(bytes.length - heldBytes));
    if (passed.length > 0) {
      this.#isAnswered = true;
      this.push(passed);
    }
    // A site may say goodbye and keep the connection open.
    if (heldBytes > 0) void this.#decide();
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#decisions += 1;
    void this.#finish(done);
  }

  async #finish(done: TransformCallback): Promise<void> {
    await this.#decide();
    done();
  }

  /** Passes on how the connection ends, once it is known whether an answer is missing. More bytes make it void. */
  async #decide(): Promise<void> {
    const decision = this.#decisions;
    const isMissing = await this.#isAnswerMissing(() => decision !== this.#decisions || this.destroyed);
    if (decision !== this.#decisions || this.destroyed || this.#isBroken) return;
    this.#isBroken = isMissing;
    const rest = isMissing ? INVALID_RECORD : this.#held;
    this.#held = Buffer.alloc(0);
    if (rest.length > 0) this.push(rest);
  }

  async #isAnswerMissing(isVoid: () => boolean): Promise<boolean> {
    if (!this.#records.isTls) return false;
    const start = performance.now();
    while (!isVoid()) {
      const owed = this.#readOwed();
      const waitedMs = performance.now() - start;
      if (owed === 'nothing') return false;
      if (owed === 'answer' && (!this.#isAnswered || waitedMs > RESPONSE_MS)) return true;
      const reportMs = this.#isAnswered ? REPORT_MS.answered : REPORT_MS.unanswered;
      if (owed === 'unknown' && waitedMs > reportMs) return false;
      await sleep(LOOK_EVERY_MS);
    }
    return false;
  }
}

/**
 * Joins the browser to a site, until one of them ends. A browser repeats a request, even one with a password, if a
 * connection that it has used before, or opened ahead, ends without a response. While a response to a submit is owed,
 * it sees a TLS error instead.
 */
export function joinTunnel(client: Duplex, upstream: Duplex, readOwed: () => Owed): void {
  const answers = new AnswerStream(readOwed);
  client.on('data', () => answers.noteRequest());
  client.once('close', () => {
    answers.destroy();
    upstream.destroy();
  });
  upstream.once('close', () => {
    if (!answers.writableEnded) answers.end();
    client.unpipe(upstream);
    // What the browser still sends is for nobody, and its end is to be seen.
    client.resume();
  });
  client.pipe(upstream).pipe(answers).pipe(client);
}
