import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openMemoryBus } from './backends/bus/memory.ts';
import type { Bus } from './backends/bus/bus.ts';
import type { Db } from './backends/db/db.ts';
import { openPglite } from './backends/db/pglite.ts';
import type { Limits } from './backends/limits/limits.ts';
import type { Objects } from './backends/objects/objects.ts';
import type { Sandboxes } from './backends/sandbox/sandbox.ts';
import { openMemoryLimits } from './backends/limits/memory.ts';
import { openFiles } from './backends/objects/files.ts';
import { findRipgrep } from './backends/sandbox/ripgrep.ts';
import { openProcessSandboxes } from './backends/sandbox/process.ts';
import { buildSigner } from './backends/sandbox/token.ts';
import type { Config } from './config.ts';
import { deriveKey } from './crypto.ts';
import { openEgress } from './egress/egress.ts';
import { StartupError, errorText } from './errors.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Logger } from './log.ts';
import { buildMasterKeys, ensureMasterKeyFile } from './master-key.ts';
import type { MasterKeys } from './master-key.ts';
import { findPreparedDatabase } from './prepared-database.ts';
import { clearLeases } from './store/leases.ts';
import { runMigrations } from './store/migrate.ts';
import { ensureEventPartitions } from './store/partitions.ts';
import { rewrapCredentials } from './store/rewrap.ts';
import { openVaults } from './vault/resolve.ts';
import { openMcp } from './mcp/mcp.ts';

/** An SDK costs up to half a second to load, so only what the configuration names is loaded. */
const adapters = {
  postgres: () => import('./backends/db/postgres.ts'),
  nats: () => import('./backends/bus/nats.ts'),
  redis: () => import('./backends/limits/redis.ts'),
  s3: () => import('./backends/objects/s3.ts'),
  kubernetes: async () => ({
    ...(await import('./kubernetes/client.ts')),
    ...(await import('./backends/sandbox/kubernetes.ts')),
  }),
};

export type Backends = Awaited<ReturnType<typeof openBackends>>;

/** Picks an adapter for each port by what the configuration names, and has the schema in place. */
export async function openBackends(config: Config, lifecycle: Lifecycle, log: Logger) {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const egress = openEgress({ allow: config.egressAllow });
  const masterKeys = openMasterKeys(config);
  const [db, bus, limits, objects, sandboxes] = await Promise.all([
    openPart('DATABASE_URL', () => openDatabase(config)),
    openPart('NATS_URL', () => openBus(config)),
    openPart('REDIS_URL', () => openLimits(config)),
    openPart('CAPSTAN_OBJECTS', () => openObjects(config)),
    openPart('CAPSTAN_SANDBOX', () => openSandboxes(config, log)),
  ]);
  const backends = { db, bus, limits, objects, sandboxes, egress };
  for (const [name, backend] of Object.entries(backends)) lifecycle.use(name, backend);
  if (config.masterKeyPrevious !== undefined) void rewrap(db, masterKeys, log);
  const vaults = openVaults({ db, egress, masterKeys, log });
  const mcp = lifecycle.use('mcp', openMcp({ egress, vaults, log }, { callTimeoutMs: config.mcpTimeoutMs }));
  return { ...backends, masterKeys, vaults, mcp };
}

function readMasterKey({ dataDir, masterKey }: Config): string {
  return masterKey ?? ensureMasterKeyFile(join(dataDir, 'master-key'));
}

function openMasterKeys(config: Config): MasterKeys {
  return buildMasterKeys(readMasterKey(config), config.masterKeyPrevious);
}

/** After a change of the master key: when nothing is left of the previous one, its setting can go. */
async function rewrap(db: Db, masterKeys: MasterKeys, log: Logger): Promise<void> {
  try {
    log.info(await rewrapCredentials(db, masterKeys), 'credentials are sealed by the current master key');
  } catch (error) {
    log.warn({ error: errorText(error) }, 'credentials are not all sealed by the current master key');
  }
}

async function openDatabase(config: Config): Promise<Db> {
  const { databaseUrl: url, databasePool: poolSize, dataDir } = config;
  const db =
    url === undefined
      ? await openPglite({ dataDir: join(dataDir, 'database'), template: findPreparedDatabase() })
      : await (await adapters.postgres()).openPostgres({ url, poolSize });
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

async function openObjects(config: Config): Promise<Objects> {
  const { objectsUrl: url, dataDir } = config;
  const signingKey = deriveKey(readMasterKey(config), 'signed addresses of objects');
  if (url !== undefined) return (await adapters.s3()).openS3({ url, signingKey });
  return openFiles({ dir: join(dataDir, 'objects'), signingKey });
}

async function openSandboxes(config: Config, log: Logger): Promise<Sandboxes> {
  if (config.sandbox === 'kubernetes') {
    const { openKubernetes, openKubernetesSandboxes } = await adapters.kubernetes();
    const kubernetes = await openKubernetes(config.kubernetes);
    const namespace = config.kubernetesNamespace ?? kubernetes.namespace ?? 'default';
    const signer = buildSigner(readMasterKey(config));
    const sandboxes = await openKubernetesSandboxes({ kubernetes, namespace, signer, log });
    const close = async () => {
      await sandboxes.close();
      await kubernetes.close();
    };
    return { ...sandboxes, close };
  }
  return openProcessSandboxes({
    dir: join(config.dataDir, 'volumes'),
    network: config.sandboxNetwork,
    rgPath: findRipgrep(),
    allowUnwrapped: config.sandboxUnwrapped,
    log,
  });
}

/** A backend that does not answer at start is the operator's to mend: say which one, and stop. */
async function openPart<T>(setting: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`The backend of ${setting} cannot be opened: ${errorText(error)}`);
  }
}
