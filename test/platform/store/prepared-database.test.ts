import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findPreparedDatabase } from '../../../src/platform/store/prepared-database.ts';
import { openPglite } from '../../../src/platform/db/pglite.ts';
import { runMigrations } from '../../../src/platform/store/migrate.ts';
import { makeScratch } from '../../support/scratch.ts';

let folder: string;
beforeAll(() => {
  folder = makeScratch('prepared');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const template = findPreparedDatabase();

/** Assigned when a database is created, and inherited by its copies. */
async function readIdentifier(dataDir: string): Promise<unknown> {
  const db = await openPglite({ dataDir, template });
  try {
    expect(await runMigrations(db)).toEqual([]);
    await db.exec('CREATE TABLE IF NOT EXISTS mine (n int)');
    await db.query('INSERT INTO mine VALUES (1)');
    const { rows } = await db.query<{ id: unknown; count: number }>(
      'SELECT system_identifier::text AS id, (SELECT count(*) FROM mine) AS count FROM pg_control_system()',
    );
    return rows[0];
  } finally {
    await db.close();
  }
}

it('is copied by a first start, also after an interrupted one, and by no later start', async () => {
  expect(existsSync(template)).toBe(true);
  const first = (await readIdentifier(join(folder, 'a'))) as { id: string; count: number };
  expect(first.count).toBe(1);
  await mkdir(join(folder, 'b.new/base'), { recursive: true });
  await writeFile(join(folder, 'b.new/base/half'), 'half');
  expect(await readIdentifier(join(folder, 'b'))).toEqual({ id: first.id, count: 1 });
  expect(existsSync(join(folder, 'b.new'))).toBe(false);
  expect(existsSync(join(folder, 'b/base/half'))).toBe(false);
  expect(await readIdentifier(join(folder, 'b'))).toEqual({ id: first.id, count: 2 });
});
