// Creates the empty database that first starts copy, unless it exists. Runs after the dependencies are installed, and
// before tests.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openPglite } from '../src/platform/db/pglite.ts';
import { setTreeModes } from '../src/platform/db/tree-modes.ts';
import { openLog } from '../src/platform/log.ts';
import { findPreparedDatabase } from '../src/platform/store/prepared-database.ts';
import { runMigrations } from '../src/platform/store/migrate.ts';
import { openVideoQueue } from '../src/video/jobs/queue.ts';

const place = findPreparedDatabase();
if (!existsSync(place)) {
  const draft = `${place}.${randomBytes(4).toString('hex')}`;
  await mkdir(dirname(place), { recursive: true });
  const db = await openPglite({ dataDir: draft });
  await runMigrations(db);
  // Its library creates its own tables.
  await (await openVideoQueue({ db, log: openLog({ level: 'warn', pretty: false }) })).close();
  await db.close();
  await rm(`${draft}.lock`, { force: true });
  // If another process has created it meanwhile, both are equally good.
  await rename(draft, place).catch(() => rm(draft, { recursive: true, force: true }));
}
try {
  // The user who starts the server may differ from the one who installed it.
  setTreeModes(place, { folders: 0o755, files: 0o644 });
} catch {
  // It belongs to another user, who has already set the mode.
}
