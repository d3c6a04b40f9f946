import { mkdirSync } from 'node:fs';
import type { Db } from '../platform/db/db.ts';
import { StartupError } from '../platform/errors.ts';
import type { Backends } from './backends/all.ts';
import { startDatabase } from './backends/database.ts';
import type { OpeningDatabase } from './backends/database.ts';
import type { SharedBackends } from './backends/shared.ts';
import type { StoredBackends } from './backends/stored.ts';
import type { BareContext } from './context.ts';
import type { RoleContext, Started } from './role.ts';

/** A role whose backends are open, and which has yet to start. */
export type Prepared = { db: Db; start(): Promise<Started> };

type Open<B> = (context: BareContext, database: OpeningDatabase) => Promise<B>;

type Prepare = (context: BareContext) => Promise<Prepared>;

/** The backends open while the role is loaded, above all the embedded database, whose thread is started first. */
function prepare<B extends { db: Db }>(
  open: Open<B>,
  load: () => Promise<(context: RoleContext<B>) => Promise<Started>>,
): Prepare {
  return async (context) => {
    // The database, the master key and the objects are below it.
    mkdirSync(context.config.dataDir, { recursive: true, mode: 0o700 });
    const database = await startDatabase(context);
    const [backends, start] = await Promise.all([open(context, database), load()]);
    return { db: backends.db, start: () => start({ ...context, backends }) };
  };
}

const openShared: Open<SharedBackends> = async (...args) => (await import('./backends/shared.ts')).openShared(...args);
const openStored: Open<StoredBackends> = async (...args) => (await import('./backends/stored.ts')).openStored(...args);
const openBackends: Open<Backends> = async (...args) => (await import('./backends/all.ts')).openBackends(...args);

/** One process, one role; `all` is every role but the operator in one process. Each loads what it runs and no more. */
const ROLES = {
  api: prepare(openBackends, async () => (await import('./api.ts')).startApi),
  gateway: prepare(openShared, async () => (await import('./gateway.ts')).startGateway),
  worker: prepare(openBackends, async () => (await import('./worker.ts')).startWorkerRole),
  login: prepare(openShared, async () => (await import('./login.ts')).startLogin),
  video: prepare(openStored, async () => (await import('./video.ts')).startVideo),
  all: prepare(openBackends, async () => (await import('./all.ts')).startAll),
} as const;

export type RoleName = keyof typeof ROLES;

/** Throws `StartupError` for a name that is none. */
export function readRole(name: string | undefined): RoleName | 'operator' {
  if (name === 'operator') return name;
  if (name !== undefined && Object.hasOwn(ROLES, name)) return name as RoleName;
  const names = [...Object.keys(ROLES), 'operator'].join(', ');
  throw new StartupError(`Usage: node src/main.ts <role>, where the role is one of ${names}.`);
}

export function prepareRole(name: RoleName, context: BareContext): Promise<Prepared> {
  return ROLES[name](context);
}
