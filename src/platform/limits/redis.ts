import { Redis } from 'ioredis';

import { errorText } from '../errors.ts';
import { LimitsUnavailableError } from './limits.ts';
import type { Limits } from './limits.ts';

/** KEYS[1] the counter; ARGV points, limit, period in ms. Returns allowed, used, ms to the end (-1 when none is open). */
const TAKE = `
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local points, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
local allowed = used + points <= limit
if allowed and points > 0 then
  used = redis.call('INCRBY', KEYS[1], ARGV[1])
  if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
end
return { allowed and 1 or 0, used, redis.call('PTTL', KEYS[1]) }`;

/** KEYS[1] the counter; ARGV points. A window that has ended is not opened again. */
const REFUND = `
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local back = math.min(used, tonumber(ARGV[1]))
if back > 0 then redis.call('DECRBY', KEYS[1], back) end
return back`;

type Scripts = {
  capstanTake(key: string, points: number, limit: number, periodMs: number): Promise<[number, number, number]>;
  capstanRefund(key: string, points: number): Promise<number>;
};

const COMMAND_TIMEOUT_MS = 1_000;
const RECONNECT_MS = 1_000;

/**
 * Counters that all replicas share, below `capstan:limit:`. While Redis is away every call throws `LimitsUnavailableError`
 * within a second; the connection comes back by itself. Throws `LimitsUnavailableError` when there is none at the start.
 */
export async function openRedis({ url }: { url: string }): Promise<Limits> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 2_000,
    commandTimeout: COMMAND_TIMEOUT_MS,
    // A call must fail at once rather than wait for a server that may never return.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 50, RECONNECT_MS),
    scripts: {
      capstanTake: { numberOfKeys: 1, lua: TAKE },
      capstanRefund: { numberOfKeys: 1, lua: REFUND },
    },
  });
  // Each failed call reports the loss itself; without a listener ioredis would print it.
  redis.on('error', () => {});
  const scripts = redis as unknown as Scripts;

  async function guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw new LimitsUnavailableError(`Redis cannot be reached: ${errorText(error)}`, { cause: error });
    }
  }
  const keyOf = (key: string) => `capstan:limit:${key}`;

  try {
    await guard(() => redis.connect());
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  return {
    take: (key, points, limit, periodMs) =>
      guard(async () => {
        const [allowed, used, ttl] = await scripts.capstanTake(keyOf(key), points, limit, periodMs);
        return {
          allowed: allowed === 1,
          limit,
          remaining: Math.max(0, limit - used),
          resetMs: ttl >= 0 ? ttl : periodMs,
        };
      }),
    refund: (key, points) =>
      guard(async () => {
        await scripts.capstanRefund(keyOf(key), points);
      }),
    ping: () =>
      guard(async () => {
        await redis.ping();
      }),
    close: () => {
      redis.disconnect();
      return Promise.resolve();
    },
  };
}
