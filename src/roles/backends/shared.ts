// Tests: test/flow/servers.test.ts, test/flow/outages.test.ts
import { join } from 'node:path';
import { openMemoryBus } from '../../platform/bus/memory.ts';
import type { Bus } from '../../platform/bus/bus.ts';
import type { Db } from '../../platform/db/db.ts';
import type { Limits } from '../../platform/limits/limits.ts';
import { openMemoryLimits } from '../../platform/limits/memory.ts';
import type { Config } from '../config/config.ts';
import { openEgress } from '../../platform/egress/egress.ts';
import { StartupError, errorText } from '../../platform/errors.ts';
import { buildMasterKeys, ensureMasterKeyFile } from '../../platform/master-key.ts';
import { clearLeases } from '../../agents/store/leases.ts';
import { runMigrations } from '../../platform/store/migrate.ts';
import { ensureEventPartitions } from '../../agents/store/event-partitions.ts';
import type { BareContext } from '../context.ts';
import type { OpeningDatabase } from './database.ts';

/** An SDK costs up to half a second to load, and memory, so only what the configuration names is loaded. */
const adapters = {
  nats: () => import('../../platform/bus/nats.ts'),
  redis: () => import('../../platform/limits/redis.ts'),
};

export type SharedBackends = Awaited<ReturnType<typeof openShared>>;

/** What every role that serves works with: picks the adapters that the configuration names, and has the schema in place. */
export async function openShared({ config, lifecycle }: BareContext, database: OpeningDatabase) {
  const egress = openEgress({ allow: config.egressAllow });
  const masterKeys = buildMasterKeys(readMasterKey(config), config.masterKeyPrevious);
  const [db, bus, limits] = await Promise.all([
    openPart('DATABASE_URL', () => prepareDatabase(database)),
    openPart('NATS_URL', () => openBus(config)),
    openPart('REDIS_URL', () => openLimits(config)),
  ]);
  for (const [name, backend] of Object.entries({ db, bus, limits, egress })) lifecycle.use(name, backend);
  return { db, bus, limits, egress, masterKeys };
}

export function readMasterKey({ dataDir, masterKey }: Config): string {
  return masterKey ?? ensureMasterKeyFile(join(dataDir, 'master-key'));
}

/** Brings the schema of an opened database up to date. */
async function prepareDatabase({ opened }: OpeningDatabase): Promise<Db> {
  const db = await opened;
  await runMigrations(db);
  await ensureEventPartitions(db, new Date());
  if (db.embedded) await clearLeases(db);
  return db;
}

async function openBus({ natsUrl: url }: Config): Promise<Bus> {
  return url === undefined ? openMemoryBus() : (await adapters.nats()).openNats({ url });
}

async function openLimits({ redisUrl: url }: Config): Promise<Limits> {
  return url === undefined ? openMemoryLimits() : (await adapters.redis()).openRedis({ url });
}

/** A backend that does not answer at start is the operator's to mend: say which one, and stop. */
export async function openPart<T>(setting: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`The backend of ${setting} cannot be opened: ${errorText(error)}`);
  }
}
