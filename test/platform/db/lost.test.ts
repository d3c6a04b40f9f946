// The fate of statements when the embedded database is busy, lost or closed.
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DbUnavailableError } from '../../../src/platform/db/db.ts';
import { openPglite } from '../../../src/platform/db/pglite.ts';
import { findPreparedDatabase } from '../../../src/platform/store/prepared-database.ts';
import { makeScratch } from '../../support/scratch.ts';
import { canMount, mountSmallDisk } from '../../support/small-disk.ts';

const template = findPreparedDatabase();
/** Blocks the thread for minutes. */
const ENDLESS = 'SELECT count(*) FROM generate_series(1, 3000000000)';

let folder: string;
beforeEach(() => {
  folder = makeScratch('lost');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a database that does not answer', () => {
  it('is unavailable to each statement after its time, and closes all the same', async () => {
    const db = await openPglite({ dataDir: join(folder, 'db'), template, fsync: false, statementTimeoutMs: 300 });
    const outcomes = await Promise.allSettled([
      db.query(ENDLESS),
      db.query('SELECT 1'),
      db.transaction((tx) => tx.query('SELECT 1')),
      db.ping(),
    ]);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(DbUnavailableError) });
    }
    await db.close();
  });

  it('keeps the order of statements after a timed-out transaction', async () => {
    const db = await openPglite({ dataDir: join(folder, 'db'), template, fsync: false, statementTimeoutMs: 2_000 });
    await db.exec('CREATE TABLE box (n integer)');
    const slow = db.transaction(async (tx) => {
      await tx.query('INSERT INTO box VALUES (1)');
      await tx.query('SELECT count(*) FROM generate_series(1, 30000000)');
    });
    await expect(slow).rejects.toBeInstanceOf(DbUnavailableError);
    await expect.poll(() => db.query('SELECT * FROM box').catch(() => undefined)).toMatchObject({ rows: [] });
    await db.close();
  });
});

describe.runIf(canMount)('a disk that is full', () => {
  it('ends the database with the cause when the log needs space, and loses nothing that was accepted', async () => {
    const disk = mountSmallDisk(160);
    if (disk === undefined) throw new Error('no disk');
    const dataDir = join(disk.folder, 'db');
    try {
      const lost = Promise.withResolvers<Error>();
      const db = await openPglite({ dataDir, template, onLost: lost.resolve });
      await db.exec('CREATE TABLE box (id integer PRIMARY KEY, text text); INSERT INTO box VALUES (1)');
      disk.leave(1024 * 1024);
      let accepted = '';
      const write = async () => {
        for (;;) {
          const text = randomBytes(1000).toString('hex');
          await db.query('UPDATE box SET text = $1 WHERE id = 1', [text]);
          accepted = text;
        }
      };
      // If a table cannot grow, only the statement fails; if the log cannot grow, the database ends.
      for (let goesOn = true; goesOn;) {
        goesOn = await write().catch((error: unknown) => !(error instanceof DbUnavailableError));
      }
      expect((await lost.promise).message).toContain('No space left on device');
      await expect(db.query('SELECT 1')).rejects.toBeInstanceOf(DbUnavailableError);
      await db.close();

      disk.leave(64 * 1024 * 1024);
      const again = await openPglite({ dataDir });
      expect((await again.query('SELECT text FROM box')).rows).toEqual([{ text: accepted }]);
      await again.close();
    } finally {
      disk.close();
    }
  });
});

it('says how to go on where the database is damaged', async () => {
  const dataDir = join(folder, 'db');
  await (await openPglite({ dataDir, template, fsync: false })).close();
  await writeFile(join(dataDir, 'global/pg_control'), randomBytes(8192));
  await expect(openPglite({ dataDir })).rejects.toThrow('capstan restore FILE');
});
