import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from './roles/config/config.ts';
import type { Config } from './roles/config/config.ts';
import { listWarnings } from './roles/config/warnings.ts';
import { StartupError } from './platform/errors.ts';
import { watchEventLoop } from './platform/event-loop.ts';
import { Lifecycle } from './platform/lifecycle.ts';
import { openLog } from './platform/log.ts';
import type { BareContext } from './roles/context.ts';
import type { Started } from './roles/role.ts';
import { prepareRole, readRole } from './roles/roles.ts';
import type { RoleName } from './roles/roles.ts';

/** Longest time in ms that closing may take once the database is lost: there is nothing left to save. */
const FATAL_CLOSE_MS = 5_000;

/** Runs `node src/main.ts <role> …` until a signal ends it. Throws `StartupError` for what its operator has to mend. */
export async function start(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const [name, command, ...rest] = args;
  const role = readRole(name);
  const config = readConfig(env, role);
  if (role !== 'operator') requireShared(role, config);
  const log = openLog({ level: config.logLevel, pretty: process.stdout.isTTY });
  const lifecycle = new Lifecycle(log);
  const stop = (exitCode: number, withinMs = config.shutdownMs) => {
    setTimeout(() => {
      log.error('closing timed out; exiting');
      process.exit(1);
    }, withinMs).unref();
    void lifecycle.close().finally(() => process.exit(exitCode));
  };
  lifecycle.onFatal((error) => {
    process.stderr.write(`capstan: ${error.message}\n`);
    stop(1, FATAL_CLOSE_MS);
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop(0));
  for (const warning of listWarnings(role, config)) log.warn(warning);
  try {
    const context = { config, lifecycle, log };
    if (role === 'operator' && command === 'remove-sandboxes') {
      await (await import('./roles/operator.ts')).runRemoval(context, rest);
      return stop(0);
    }
    const { address } = role === 'operator' ? await startOperator(context) : await startServing(role, context);
    // Not before: loading modules blocks the event loop, and nobody is served yet.
    lifecycle.use('event loop monitor', watchEventLoop(log));
    if (address !== undefined) process.stdout.write(`Capstan listens on ${address}\n`);
    log.info({ role, address, readyMs: Math.round(performance.now()) }, 'ready');
  } catch (error) {
    await Promise.race([lifecycle.close(), sleep(config.shutdownMs, undefined, { ref: false })]);
    throw error;
  }
}

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

/** Has no backends, and loads nothing of those who do. */
async function startOperator(context: BareContext): Promise<Started> {
  const { runOperator } = await import('./roles/operator.ts');
  return runOperator(context);
}

async function startServing(role: RoleName, context: BareContext): Promise<Started> {
  const { config } = context;
  const [prepared, { bootstrapKey }] = await Promise.all([
    prepareRole(role, context),
    import('./platform/store/keys.ts'),
  ]);
  const key = role === 'worker' ? undefined : await bootstrapKey(prepared.db, { key: config.apiKey });
  const started = await prepared.start();
  prepared.db.storage?.guard();
  if (role === 'all') keepKey(config, key);
  if (key !== undefined) process.stdout.write(`\nAPI key of the organization "default", shown this once: ${key}\n`);
  return started;
}

/** The command line of the same machine finds the key of `all` here. */
function keepKey(config: Config, made: string | undefined): void {
  const key = made ?? config.apiKey;
  if (key !== undefined) writeFileSync(join(config.dataDir, 'api-key'), `${key}\n`, { mode: 0o600 });
}
