// Power loss at random moments: CAPSTAN_POWER_CUTS sets how many (default 12), CAPSTAN_POWER_CUT_SEED which.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Db } from '../../../src/platform/db/db.ts';
import { openPglite } from '../../../src/platform/db/pglite.ts';
import { findPreparedDatabase } from '../../../src/platform/store/prepared-database.ts';
import { openRandom } from '../../support/crash/random.ts';
import { cutPower, readTrace } from '../../support/power-cut/disk.ts';
import type { Operation } from '../../support/power-cut/operations.ts';
import { makeScratch } from '../../support/scratch.ts';

const CUTS = Number(process.env['CAPSTAN_POWER_CUTS'] ?? 12);
const SEED = Number(process.env['CAPSTAN_POWER_CUT_SEED'] ?? 1);
const WRITERS = 8;
const WRITES = 40;
const THREAD = new URL('../../support/power-cut/thread.ts', import.meta.url);

let folder: string;
let dataDir: string;
let operations: Operation[];
const accepted: { id: number; at: bigint }[] = [];

/** Single rows, and rows in transactions with a counter that must equal their number. */
async function write(db: Db, writer: number): Promise<void> {
  for (let number = 0; number < WRITES; number += 1) {
    const id = writer * WRITES + number;
    if (id % 3 === 0) await db.query('INSERT INTO box VALUES ($1, false, $2)', [id, 'x'.repeat(id * 10)]);
    else {
      await db.transaction(async (tx) => {
        await tx.query('INSERT INTO box VALUES ($1, true, $2)', [id, 'x'.repeat(id * 10)]);
        await tx.query('UPDATE counter SET n = n + 1');
      });
    }
    accepted.push({ id, at: process.hrtime.bigint() });
    if (id % 100 === 99) await db.query('CHECKPOINT');
  }
}

beforeAll(async () => {
  folder = makeScratch('power');
  dataDir = join(folder, 'db');
  cpSync(findPreparedDatabase(), dataDir, { recursive: true });
  const db = await openPglite({ dataDir, thread: THREAD });
  await db.exec(
    'CREATE TABLE box (id integer PRIMARY KEY, counted boolean, text text); CREATE TABLE counter (n integer);',
  );
  await db.exec('INSERT INTO counter VALUES (0)');
  accepted.push({ id: -1, at: process.hrtime.bigint() });
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(db, writer)));
  await db.close();
  operations = readTrace(dataDir);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a loss of power', () => {
  test.for(Array.from({ length: CUTS }, (_, cut) => SEED * 1000 + cut))(
    'loses nothing accepted, seed %i',
    async (seed) => {
      const numbers = openRandom(seed);
      const random = () => numbers.next();
      const start = operations.findIndex(({ at }) => at > (accepted[0]?.at ?? 0n));
      const cut = start + Math.floor(random() * (operations.length - start));
      const place = { folder: join(folder, `cut-${seed}`), dataDir };
      cpSync(findPreparedDatabase(), place.folder, { recursive: true });
      cutPower(operations.slice(0, cut), place, random);

      const db = await openPglite({ dataDir: place.folder, fsync: false });
      const { rows } = await db.query<{ id: number; counted: boolean }>('SELECT id, counted FROM box');
      const ids = new Set(rows.map(({ id }) => id));
      const cutAt = operations[cut]?.at ?? 0n;
      const lost = accepted.filter(({ id, at }) => id >= 0 && at < cutAt && !ids.has(id));
      expect(lost).toEqual([]);
      expect(ids.size).toBe(rows.length);
      expect((await db.query('SELECT n FROM counter')).rows).toEqual([
        { n: rows.filter(({ counted }) => counted).length },
      ]);
      await db.close();
      rmSync(place.folder, { recursive: true });
    },
  );
});
