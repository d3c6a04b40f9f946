import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { Db } from '../../../src/platform/db/db.ts';
import { openPglite } from '../../../src/platform/db/pglite.ts';
import { openPostgres } from '../../../src/platform/db/postgres.ts';
import { StartupError } from '../../../src/platform/errors.ts';
import { runMigrations } from '../../../src/platform/store/migrate.ts';
import { openPostgresDatabase } from '../../support/database.ts';
import { findService } from '../../support/find-service.ts';
import { makeScratch } from '../../support/scratch.ts';

const postgresUrl = await findService('postgres');

/** Two processes at once, if the adapter allows that. */
type Opened = { first: Db; second: Db; close(): Promise<void> };

async function openTwoConnections(url: string): Promise<Opened> {
  const database = await openPostgresDatabase(url, { migrated: false });
  const second = await openPostgres({ url: database.url });
  return { first: database.db, second, close: () => second.close().then(() => database.close()) };
}

async function openEmbedded(): Promise<Opened> {
  const folder = makeScratch('migrate');
  const db = await openPglite({ dataDir: join(folder, 'db') });
  const close = () => db.close().then(() => rm(folder, { recursive: true }));
  return { first: db, second: db, close };
}

const ADAPTERS = [
  { name: 'postgres', installed: postgresUrl !== undefined, open: () => openTwoConnections(postgresUrl ?? '') },
  { name: 'pglite', installed: true, open: openEmbedded },
];

describe.each(ADAPTERS.filter(({ installed }) => installed))('migrations on $name', ({ open }) => {
  let opened: Opened;
  let folder: string;
  const files = (contents: Record<string, string>) =>
    Promise.all(Object.entries(contents).map(([name, sql]) => writeFile(join(folder, name), sql)));
  const migrate = (db: Db) => runMigrations(db, pathToFileURL(`${folder}/`));
  beforeEach(async () => {
    opened = await open();
    folder = makeScratch('sql');
  });
  afterEach(async () => {
    await opened.close();
    await rm(folder, { recursive: true });
  });

  it('applies the program’s own files once, also when two start at the same time', async () => {
    const { first, second } = opened;
    const applied = (await Promise.all([runMigrations(first), runMigrations(second)])).flat();
    expect(applied.sort().slice(0, 2)).toEqual(['0001_base.sql', '0002_sessions.sql']);
    expect(new Set(applied).size).toBe(applied.length);
    expect(await runMigrations(first)).toEqual([]);
    await first.query('SELECT 1 FROM sessions, events, agents');
  });

  it('applies only new migrations, and rejects a newer database', async () => {
    await files({ '0001_one.sql': 'CREATE TABLE one (n integer)', 'README.md': 'no SQL' });
    expect(await migrate(opened.first)).toEqual(['0001_one.sql']);
    await files({ '0002_two.sql': 'CREATE TABLE two (n integer); -- the end' });
    expect(await migrate(opened.first)).toEqual(['0002_two.sql']);
    await rm(join(folder, '0002_two.sql'));
    await expect(migrate(opened.first)).rejects.toThrow(StartupError);
  });

  it('keeps nothing of a file that fails, and all before it', async () => {
    await files({
      '0001_one.sql': 'CREATE TABLE one (n integer);',
      '0002_two.sql': 'CREATE TABLE two (n int); SELECT 1/0;',
    });
    await expect(migrate(opened.first)).rejects.toThrow('division by zero');
    const { rows } = await opened.first.query(`SELECT to_regclass('one') AS one, to_regclass('two') AS two`);
    expect(rows).toEqual([{ one: 'one', two: null }]);
    await files({ '0002_two.sql': 'CREATE TABLE two (n integer);' });
    expect(await migrate(opened.first)).toEqual(['0002_two.sql']);
  });

  it('refuses two files with one number', async () => {
    await files({ '0001_one.sql': 'SELECT 1;', '0001_two.sql': 'SELECT 1;' });
    await expect(migrate(opened.first)).rejects.toThrow('0001_two.sql');
  });
});
