// Tests: test/gateway/response-cache.test.ts
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { invalid } from './gateway-error.ts';
import type { ClientStream } from './stream.ts';

/** Request header: seconds for which the response may be cached. As a response header it says `hit` or `miss`. */
const HEADER = 'x-capstan-cache';
const MAX_SECONDS = 86_400;
/** Maximum characters of one response, and of all together. */
const MAX_RESPONSE = 1024 * 1024;
const MAX_TOTAL = 32 * 1024 * 1024;
/** Headers that change the content of a response. */
const VARIES = ['anthropic-beta', 'accept'];

type Entry = { text: string; expiresAt: number };

/** A call whose response may be read from or written to the cache. */
export type CachedCall = {
  /** the whole cached body */
  hit: string | undefined;
  keep(text: string): void;
  /** Forwards the stream, and caches its text once it ends. */
  record(stream: ClientStream): ClientStream;
  /** Discards the recorded text: the call has failed. */
  drop(): void;
};

function readSeconds(value: string | string[] | undefined): number | undefined {
  if (value === undefined) return undefined;
  const seconds = typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : 0;
  if (seconds < 1 || seconds > MAX_SECONDS)
    throw invalid(HEADER, `must be a number of seconds from 1 to ${MAX_SECONDS}`);
  return seconds;
}

/** Whole responses by API key and exact request, in the memory of this process. Evicts the least recently used. */
export class ResponseCache {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;
  #total = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  #delete(id: string): void {
    this.#total -= this.#entries.get(id)?.text.length ?? 0;
    this.#entries.delete(id);
  }

  #get(id: string): string | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    this.#entries.delete(id);
    if (entry.expiresAt > this.#now()) {
      this.#entries.set(id, entry);
      return entry.text;
    }
    this.#total -= entry.text.length;
    return undefined;
  }

  #set(id: string, text: string, seconds: number): void {
    if (text.length > MAX_RESPONSE) return;
    this.#delete(id);
    this.#entries.set(id, { text, expiresAt: this.#now() + seconds * 1000 });
    this.#total += text.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#total <= MAX_TOTAL) break;
      this.#delete(oldest);
    }
  }

  /** Undefined if the caller does not ask for caching. Throws a `GatewayError` for a bad header. */
  open({ headers, caller, rawBody, routeOptions }: FastifyRequest, reply: FastifyReply): CachedCall | undefined {
    const seconds = readSeconds(headers[HEADER]);
    if (seconds === undefined || caller === undefined || rawBody === undefined) return undefined;
    const about = [caller.organizationId, caller.keyId, routeOptions.url, ...VARIES.map((name) => headers[name] ?? '')];
    const id = createHash('sha256').update(JSON.stringify(about)).update(rawBody).digest('base64');
    const hit = this.#get(id);
    void reply.header(HEADER, hit === undefined ? 'miss' : 'hit');
    let text: string | undefined = '';
    const keep = (whole: string) => this.#set(id, whole, seconds);
    const add = (frames: string) => {
      if (text !== undefined) text = text.length > MAX_RESPONSE ? undefined : text + frames;
    };
    return {
      hit,
      keep,
      record: (stream) => ({
        ...stream,
        write(frames) {
          add(frames);
          return stream.write(frames);
        },
        end(frames) {
          add(frames);
          stream.end(frames);
          if (text !== undefined) keep(text);
        },
      }),
      drop() {
        text = undefined;
      },
    };
  }
}
