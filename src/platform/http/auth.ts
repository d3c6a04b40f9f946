import type { FastifyReply, FastifyRequest } from 'fastify';
import { onKeysChanged } from '../bus/key-changes.ts';
import type { ApiKey } from '../contract/keys.ts';
import { sha256 } from '../crypto.ts';
import { errors } from '../errors.ts';
import { findActiveKey } from '../store/keys.ts';
import { rateLimitHeaders, takeAllowance } from './allowance.ts';
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

/** Keys looked up lately, known and unknown ones. */
function openKeyCache(find: (text: string) => Promise<ApiKey | undefined>) {
  const entries = new Map<string, Entry>();
  return {
    clear: () => entries.clear(),
    find(text: string): Promise<ApiKey | undefined> {
      const id = sha256(text);
      const now = performance.now();
      const entry = entries.get(id);
      if (entry !== undefined && entry.expires > now) return entry.key;
      const key = find(text);
      entries.delete(id);
      entries.set(id, { key, expires: now + CACHE_MS });
      key.catch(() => entries.delete(id));
      const [oldest] = entries.keys();
      if (entries.size > CACHE_ENTRIES && oldest !== undefined) entries.delete(oldest);
      return key;
    },
  };
}

/** Knows callers by their key and counts their requests. One look at the counter per request, none at the database. */
export function openAuthenticator({ db, bus, limits }: Pick<HttpPorts, 'db' | 'bus' | 'limits'>): {
  authenticate: Authenticate;
  start(): Promise<void>;
  close(): Promise<void>;
} {
  const cache = openKeyCache((text) => findActiveKey(db, text));
  let subscription: Awaited<ReturnType<typeof onKeysChanged>> | undefined;
  return {
    async authenticate(request: FastifyRequest, reply: FastifyReply) {
      const text = findKeyText(request.headers);
      if (text === undefined || text.length > MAX_KEY_LENGTH) throw errors.unauthorized();
      const key = await cache.find(text);
      if (key === undefined) throw errors.unauthorized();
      const allowance = await takeAllowance(limits, 'requests', `requests:${key.id}`, 1, key.requestsPerMinute);
      void reply.headers(rateLimitHeaders(allowance));
      return {
        organizationId: key.organizationId,
        organization: key.organization,
        keyId: key.id,
        scopes: key.scopes,
      };
    },
    async start() {
      subscription = await onKeysChanged(bus, cache.clear);
    },
    async close() {
      subscription?.close();
    },
  };
}
