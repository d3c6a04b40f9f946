import type { FastifyReply, FastifyRequest } from 'fastify';
import { onKeysChanged } from '../bus/key-changes.ts';
import type { ApiKey } from '../contract/keys.ts';
import { sha256 } from '../crypto.ts';
import { ApiError, errors } from '../errors.ts';
import { findActiveKey } from '../store/keys.ts';
import { openRequestAllowance, rateLimitHeaders } from './allowance.ts';
import { openAttempts } from './attempts.ts';
import type { Bounds } from './bounds.ts';
import type { Authenticate, HttpPorts } from './deps.ts';

/** A revoked key has to stop within 5 s even where the news of it is lost. */
const CACHE_MS = 3000;
const CACHE_ENTRIES = 10_000;
const MAX_KEY_LENGTH = 500;

type Entry = { key: Promise<ApiKey | undefined>; expires: number };

/** The key that a request carries: the header `x-api-key`, or a bearer token. */
export function findKeyText(headers: FastifyRequest['headers']): string | undefined {
  const own = headers['x-api-key'];
  if (typeof own === 'string' && own !== '') return own;
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
}

/** A map that forgets its oldest entry beyond `CACHE_ENTRIES`. */
function setBounded<V>(map: Map<string, V>, id: string, value: V): void {
  map.delete(id);
  map.set(id, value);
  const [oldest] = map.keys();
  if (map.size > CACHE_ENTRIES && oldest !== undefined) map.delete(oldest);
}

/**
 * Keys looked up lately. Unknown ones have a cache of their own, so that they push no known key out. A key that was known
 * once is looked up again however many unknown ones its address has sent: behind a proxy all callers have one address.
 */
function openKeyCache(find: (text: string) => Promise<ApiKey | undefined>, unknownKeysPerMinute: number) {
  const known = new Map<string, Entry>();
  const unknown = new Map<string, Entry>();
  const everKnown = new Map<string, true>();
  const attempts = openAttempts(unknownKeysPerMinute);
  return {
    clear() {
      known.clear();
      unknown.clear();
    },
    /** Throws `rate_limited` where `address` has sent too many unknown keys. */
    async find(text: string, address: string | undefined): Promise<ApiKey | undefined> {
      const id = sha256(text);
      const now = performance.now();
      const entry = known.get(id) ?? unknown.get(id);
      if (entry !== undefined && entry.expires > now) return entry.key;
      const waitSeconds = everKnown.has(id) ? undefined : attempts.findWaitSeconds(address);
      if (waitSeconds !== undefined) {
        throw new ApiError('rate_limited', 'Too many unknown API keys came from this address.', {
          retryAfterSeconds: waitSeconds,
        });
      }
      const lookup = find(text);
      const fresh = { key: lookup, expires: now + CACHE_MS };
      // Counted from the start, so that many at once do not pass together.
      if (everKnown.has(id)) {
        setBounded(known, id, fresh);
      } else {
        attempts.add(address);
        setBounded(unknown, id, fresh);
      }
      try {
        const key = await lookup;
        if (key !== undefined && !everKnown.has(id)) {
          attempts.remove(address);
          setBounded(everKnown, id, true);
          if (unknown.get(id) === fresh) {
            unknown.delete(id);
            setBounded(known, id, fresh);
          }
        }
        if (key === undefined) everKnown.delete(id);
        return key;
      } catch (error) {
        for (const entries of [known, unknown]) if (entries.get(id) === fresh) entries.delete(id);
        throw error;
      }
    },
  };
}

/** Knows callers by their key and counts their requests. One look at the counter per request, none at the database. */
export function openAuthenticator(
  { db, bus, limits }: Pick<HttpPorts, 'db' | 'bus' | 'limits'>,
  { unknownKeysPerMinute }: Pick<Bounds, 'unknownKeysPerMinute'>,
): {
  authenticate: Authenticate;
  start(): Promise<void>;
  close(): Promise<void>;
} {
  const cache = openKeyCache((text) => findActiveKey(db, text), unknownKeysPerMinute);
  const requests = openRequestAllowance(limits);
  let subscription: Awaited<ReturnType<typeof onKeysChanged>> | undefined;
  return {
    async authenticate(request: FastifyRequest, reply: FastifyReply) {
      const text = findKeyText(request.headers);
      if (text === undefined || text.length > MAX_KEY_LENGTH) throw errors.unauthorized();
      const key = await cache.find(text, request.socket.remoteAddress);
      if (key === undefined) throw errors.unauthorized();
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const allowance = await requests.take(key.id, key.requestsPerMinute, isRead);
      void reply.headers(rateLimitHeaders(allowance));
      return {
        organizationId: key.organizationId,
        organization: key.organization,
        keyId: key.id,
        scopes: key.scopes,
      };
    },
    async start() {
      subscription = await onKeysChanged(bus, () => cache.clear());
    },
    async close() {
      subscription?.close();
    },
  };
}
