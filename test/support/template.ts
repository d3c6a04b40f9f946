import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { cp, mkdir, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { openPglite } from '../../src/backends/db/pglite.ts';
import { openPostgres } from '../../src/backends/db/postgres.ts';
import { runMigrations } from '../../src/store/migrate.ts';

export const TEMPLATE = 'capstan_template';

/** The same server, another database. */
export function withDatabase(url: string, name: string): string {
  return Object.assign(new URL(url), { pathname: `/${name}` }).toString();
}

/** Makes the migrated database that every test database is a copy of. */
export async function migrateTemplate(url: string): Promise<void> {
  const server = await openPostgres({ url, poolSize: 1 });
  await server.exec(`CREATE DATABASE ${TEMPLATE}`);
  await server.close();
  const template = await openPostgres({ url: withDatabase(url, TEMPLATE), poolSize: 1 });
  await runMigrations(template);
  await template.close();
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache/capstan');
const MIGRATIONS = join(ROOT, 'src/store/migrations');

async function hash(paths: string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(await readFile(path));
  return hash.digest('hex').slice(0, 16);
}

/** Kept between runs. Should another process make the same one meanwhile, either copy is as good. */
async function ensureTemplate(name: string, make: (dataDir: string) => Promise<void>): Promise<string> {
  const template = join(CACHE, name);
  if (await stat(template).catch(() => undefined)) return template;
  const draft = `${template}.${randomBytes(4).toString('hex')}`;
  await mkdir(CACHE, { recursive: true });
  await make(draft);
  await rename(draft, template).catch(() => rm(draft, { recursive: true, force: true }));
  return template;
}

async function copy(template: string, dataDir: string): Promise<void> {
  await cp(template, dataDir, { recursive: true, mode: constants.COPYFILE_FICLONE });
}

/** Copies an embedded database without any table to `dataDir`: a good deal faster than making one. */
export async function copyEmptyTemplate(dataDir: string): Promise<void> {
  const release = await hash([join(ROOT, 'node_modules/@electric-sql/pglite/package.json')]);
  const template = await ensureTemplate(`pglite-${release}`, async (draft) => {
    await (await openPglite({ dataDir: draft })).close();
  });
  await copy(template, dataDir);
}

/** Copies a migrated embedded database to `dataDir`. The original is made anew when a migration changed. */
export async function copyEmbeddedTemplate(dataDir: string): Promise<void> {
  const files = (await readdir(MIGRATIONS)).sort().map((name) => join(MIGRATIONS, name));
  const schema = await hash([join(ROOT, 'node_modules/@electric-sql/pglite/package.json'), ...files]);
  const template = await ensureTemplate(`pglite-${schema}-migrated`, async (draft) => {
    await copyEmptyTemplate(draft);
    const db = await openPglite({ dataDir: draft });
    await runMigrations(db);
    await db.close();
  });
  await copy(template, dataDir);
}
