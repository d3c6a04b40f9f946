import { startNats } from '../../test/support/services/nats.ts';
import { startPostgres } from '../../test/support/services/postgres.ts';
import { startRedis } from '../../test/support/services/redis.ts';

export type Stack = { name: string; env: Record<string, string>; close(): Promise<void> };

/** The embedded default, and the real servers where they are installed. */
export async function startStacks(): Promise<Stack[]> {
  const embedded: Stack = { name: 'embedded', env: {}, close: () => Promise.resolve() };
  const [postgres, nats, redis] = await Promise.all([startPostgres(), startNats(), startRedis()]);
  if (postgres === undefined || nats === undefined || redis === undefined) {
    console.log('PostgreSQL, NATS or Redis is not installed: the embedded stack only');
    return [embedded];
  }
  return [
    embedded,
    {
      name: 'PostgreSQL + NATS + Redis',
      env: { DATABASE_URL: postgres.url, NATS_URL: nats.url, REDIS_URL: redis.url },
      close: async () => void (await Promise.all([postgres.stop(), nats.stop(), redis.stop()])),
    },
  ];
}
