import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from './config.ts';
import type { Config } from './config.ts';
import { openBackends } from './deps.ts';
import { StartupError, errorText } from './errors.ts';
import { Lifecycle } from './lifecycle.ts';
import { openLog } from './log.ts';
import { readRole, runOperator, startRole } from './roles.ts';
import type { RoleContext, RoleName, Started } from './roles.ts';
import { bootstrapKey } from './store/keys.ts';

/** Roles that run beside others need backends that others can reach. */
function requireShared(role: RoleName, config: Config): void {
  if (role === 'all') return;
  const missing = [
    config.databaseUrl === undefined && 'DATABASE_URL',
    config.natsUrl === undefined && 'NATS_URL',
    config.redisUrl === undefined && 'REDIS_URL',
    config.objectsUrl === undefined && 'CAPSTAN_OBJECTS',
    config.masterKey === undefined && 'CAPSTAN_MASTER_KEY',
  ].filter((name) => name !== false);
  if (missing.length > 0) {
    throw new StartupError(
      `The role ${role} needs what other processes share: set ${missing.join(', ')}. Only "all" has its own.`,
    );
  }
}

const WORTHY_KEY = 16;

async function main(): Promise<void> {
  const role = readRole(process.argv[2]);
  const config = readConfig(process.env);
  if (role !== 'operator') requireShared(role, config);
  const log = openLog({ level: config.logLevel, pretty: process.stdout.isTTY });
  const lifecycle = new Lifecycle(log);
  const stop = (exitCode: number) => void lifecycle.close().finally(() => process.exit(exitCode));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop(0));
  if ((config.apiKey?.length ?? WORTHY_KEY) < WORTHY_KEY) log.warn('CAPSTAN_API_KEY is short enough to be guessed');
  try {
    const context = { config, lifecycle, log };
    const { address } = role === 'operator' ? await runOperator(context) : await serve(role, context);
    if (address !== undefined) process.stdout.write(`Capstan listens on ${address}\n`);
    log.info({ role, address, readyMs: Math.round(performance.now()) }, 'ready');
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

async function serve(role: RoleName, context: Omit<RoleContext, 'backends'>): Promise<Started> {
  const { config, lifecycle, log } = context;
  const backends = await openBackends(config, lifecycle, log);
  const key = role === 'worker' ? undefined : await bootstrapKey(backends.db, { key: config.apiKey });
  const started = await startRole(role, { ...context, backends });
  if (role === 'all') keepKey(config, key);
  if (key !== undefined) process.stdout.write(`\nAPI key of the organization "default", shown this once: ${key}\n`);
  return started;
}

/** The command line of the same machine finds the key of `all` here. */
function keepKey(config: Config, made: string | undefined): void {
  const key = made ?? config.apiKey;
  if (key !== undefined) writeFileSync(join(config.dataDir, 'api-key'), `${key}\n`, { mode: 0o600 });
}

main().catch((error: unknown) => {
  const text = error instanceof StartupError ? error.message : error instanceof Error ? error.stack : errorText(error);
  process.stderr.write(`capstan: ${text}\n`);
  process.exit(1);
});
