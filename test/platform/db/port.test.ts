import { randomBytes } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { DbUnavailableError, isUniqueViolation } from '../../../src/platform/db/db.ts';
import type { Db } from '../../../src/platform/db/db.ts';
import { openEmbeddedDatabase, openPostgresDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';
import { findService } from '../../support/find-service.ts';

const postgresUrl = await findService('postgres');

const ADAPTERS = [
  {
    name: 'postgres',
    installed: postgresUrl !== undefined,
    open: () => openPostgresDatabase(postgresUrl ?? ''),
    embedded: false,
  },
  { name: 'pglite', installed: true, open: openEmbeddedDatabase, embedded: true },
];

describe.each(ADAPTERS.filter(({ installed }) => installed))('the database on $name', ({ open, embedded }) => {
  let database: TestDatabase;
  let db: Db;
  beforeAll(async () => {
    database = await open();
    db = database.db;
    await db.exec('CREATE TABLE box (id text PRIMARY KEY, n bigint NOT NULL DEFAULT 0, value jsonb); SELECT 1;');
  });
  afterAll(() => database.close());

  const newBox = async () => {
    const id = randomBytes(8).toString('hex');
    await db.query('INSERT INTO box (id) VALUES ($1)', [id]);
    return id;
  };
  const readBox = async (id: string) => (await db.query('SELECT n FROM box WHERE id = $1', [id])).rows[0]?.n;
  const single = async (sql: string, params: readonly unknown[]) => (await db.query(sql, params)).rows[0];

  it('gives the rows of all statements of a script, in order', async () => {
    const { rows } = await db.exec('BEGIN; SELECT 1 AS n; CREATE TEMP TABLE scratch (n int); SELECT 2 AS n; COMMIT;');
    expect(rows).toEqual([{ n: 1 }, { n: 2 }]);
    expect((await db.exec('SELECT 3 AS n')).rows).toEqual([{ n: 3 }]);
  });

  it('says whether it is embedded', () => {
    expect(db.embedded).toBe(embedded);
  });

  it('counts changes only where no other process makes any', () => {
    expect(db.revision !== undefined).toBe(embedded);
  });

  it.runIf(embedded)('counts changes and no reads', async () => {
    const read = () => db.revision?.() ?? -1;
    const before = read();
    await db.query('SELECT count(*) FROM box');
    await db.transaction((tx) => tx.query('UPDATE box SET n = n WHERE false'));
    expect(read()).toBe(before);
    await newBox();
    const inserted = read();
    expect(inserted).toBeGreaterThan(before);
    const id = await newBox();
    const grown = read();
    await db.transaction((tx) => tx.query('UPDATE box SET n = n + 1 WHERE id = $1', [id]));
    expect(read()).toBeGreaterThan(grown);
  });

  it('gives the columns that a table has now, to statements at once as well', async () => {
    await db.exec('CREATE TABLE shape (a int); INSERT INTO shape VALUES (1)');
    const read = async () => (await db.query('SELECT * FROM shape')).rows;
    expect(await read()).toEqual([{ a: 1 }]);
    await db.exec("ALTER TABLE shape ADD COLUMN b text DEFAULT 'two'");
    const answers = await Promise.all([read(), read(), read()]);
    expect(answers).toEqual(answers.map(() => [{ a: 1, b: 'two' }]));
    await db.exec('DROP TABLE shape');
  });

  it('gives values back as the types that the port names', async () => {
    const at = new Date('2026-02-03T04:05:06.789Z');
    const value = { text: 'ü "quoted" \\ \u2028', list: [1, null, { deep: true }] };
    const row = await single(
      `SELECT $1::bigint AS big, $2::integer AS int, $3::timestamptz AS at, $4::jsonb AS value, $5::bytea AS bytes,
              $6::boolean AS yes, $7::double precision AS float, $8::text AS nothing, count(*) AS count FROM (SELECT 1) t`,
      [2 ** 40, -7, at, JSON.stringify(value), new Uint8Array([0, 1, 255]), true, 0.25, null],
    );
    expect(row).toMatchObject({ big: 2 ** 40, int: -7, value, yes: true, float: 0.25, nothing: null, count: 1 });
    expect(row?.at).toEqual(at);
    expect(row?.bytes).toBeInstanceOf(Uint8Array);
    expect(Buffer.from(row?.bytes as Uint8Array)).toEqual(Buffer.from([0, 1, 255]));
  });

  it('takes and gives arrays', async () => {
    const texts = ['plain', 'with "quotes", {braces} and \\', '', 'NULL', 'ü'];
    const row = await single('SELECT $1::text[] AS texts, $2::bigint[] AS numbers, $3::text[] AS none', [
      texts,
      [1, 2 ** 40],
      [],
    ]);
    expect(row).toEqual({ texts, numbers: [1, 2 ** 40], none: [] });
  });

  it.each([
    ['a string', 'te"xt'],
    ['a number', 4],
    ['null', null],
    ['false', false],
    ['a list', [1, 'two']],
  ])('keeps %s as jsonb', async (_, value) => {
    const row = await single('SELECT $1::jsonb AS value', [JSON.stringify(value)]);
    expect(row?.value).toEqual(value);
  });

  it('takes an absent parameter for null', async () => {
    expect(await single('SELECT $1::text IS NULL AS absent', [undefined])).toEqual({ absent: true });
  });

  it('counts the rows that a statement touched', async () => {
    const ids = [await newBox(), await newBox()];
    const update = await db.query('UPDATE box SET n = n + 1 WHERE id = ANY($1::text[])', [ids]);
    expect(update).toEqual({ rows: [], rowCount: 2 });
    const returning = await db.query('UPDATE box SET n = n + 1 WHERE id = $1 RETURNING n', [ids[0]]);
    expect(returning).toEqual({ rows: [{ n: 2 }], rowCount: 1 });
    expect((await db.query('DELETE FROM box WHERE id = $1', ['nobody'])).rowCount).toBe(0);
    expect((await db.query('SELECT id FROM box WHERE id = ANY($1::text[])', [ids])).rowCount).toBe(2);
  });

  it('tells a unique violation from other errors', async () => {
    const id = await newBox();
    const twice = await db.query('INSERT INTO box (id) VALUES ($1)', [id]).catch((error: unknown) => error);
    expect(isUniqueViolation(twice)).toBe(true);
    expect(twice).toMatchObject({ constraint: 'box_pkey' });
    const wrong = await db.query('SELECT * FROM no_such_table').catch((error: unknown) => error);
    expect(isUniqueViolation(wrong)).toBe(false);
    expect(wrong).toMatchObject({ code: '42P01' });
  });

  it('commits a transaction whose work resolves and returns its value', async () => {
    const id = await newBox();
    const result = await db.transaction(async (tx) => {
      await tx.query('UPDATE box SET n = 5 WHERE id = $1', [id]);
      return (await tx.query('SELECT n FROM box WHERE id = $1', [id])).rows[0]?.n;
    });
    expect(result).toBe(5);
    expect(await readBox(id)).toBe(5);
  });

  it('rolls a transaction back whose work throws, and passes the error on', async () => {
    const id = await newBox();
    const reason = new Error('changed my mind');
    const failing = db.transaction(async (tx) => {
      await tx.query('UPDATE box SET n = 5 WHERE id = $1', [id]);
      throw reason;
    });
    await expect(failing).rejects.toBe(reason);
    expect(await readBox(id)).toBe(0);
  });

  it('does not pass a transaction off as committed in which a statement had failed', async () => {
    const id = await newBox();
    const failing = db.transaction(async (tx) => {
      await tx.query('UPDATE box SET n = 5 WHERE id = $1', [id]);
      await tx.query('SELECT 1 / 0').catch(() => {});
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await readBox(id)).toBe(0);
  });

  it('takes a lock that comes first inside the transaction', async () => {
    const id = await newBox();
    const isInside = await db.transaction(async (tx) => {
      await tx.query('SELECT n FROM box WHERE id = $1 FOR UPDATE', [id]);
      const { rows } = await tx.query('SELECT pg_current_xact_id_if_assigned() IS NOT NULL AS inside');
      return rows[0]?.inside;
    });
    expect(isInside).toBe(true);
  });

  it('commits a statement that the work does not wait for', async () => {
    const id = await newBox();
    const { updating } = await db.transaction(async (tx) => {
      await tx.query('SELECT n FROM box WHERE id = $1 FOR UPDATE', [id]);
      return { updating: tx.query('UPDATE box SET n = 3 WHERE id = $1', [id]) };
    });
    expect((await updating).rowCount).toBe(1);
    expect(await readBox(id)).toBe(3);
  });

  it('rolls back where a statement fails that the work does not wait for', async () => {
    const id = await newBox();
    const failures: unknown[] = [];
    const failing = db.transaction(async (tx) => {
      await tx.query('UPDATE box SET n = 3 WHERE id = $1', [id]);
      tx.query('INSERT INTO box (id) VALUES ($1)', [id]).catch((error: unknown) => failures.push(error));
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(failures.map(isUniqueViolation)).toEqual([true]);
    expect(await readBox(id)).toBe(0);
  });

  it('refuses statements of a transaction that has ended', async () => {
    const tx = await db.transaction((current) => Promise.resolve(current));
    await expect(tx.query('SELECT 1')).rejects.toThrow('The transaction has ended');
  });

  it('can vacuum', async () => {
    await expect(db.query('VACUUM (ANALYZE)')).resolves.toEqual({ rows: [], rowCount: 0 });
  });

  it('keeps statements of others out of a transaction', async () => {
    const id = await newBox();
    const middle = Promise.withResolvers<void>();
    const failing = db.transaction(async (tx) => {
      await tx.query('SELECT 1');
      middle.resolve();
      await tx.query('UPDATE box SET n = n + 100 WHERE id <> $1', [id]);
      throw new Error('rolled back');
    });
    await middle.promise;
    const others = [1, 2, 3].map(() => db.query('UPDATE box SET n = n + 1 WHERE id = $1', [id]));
    await expect(failing).rejects.toThrow('rolled back');
    await Promise.all(others);
    expect(await readBox(id)).toBe(3);
  });

  it('loses no update of many concurrent transactions', async () => {
    const id = await newBox();
    const increment = () =>
      db.transaction(async (tx) => {
        const { rows } = await tx.query<{ n: number }>('SELECT n FROM box WHERE id = $1 FOR UPDATE', [id]);
        await tx.query('UPDATE box SET n = $2 WHERE id = $1', [id, (rows[0]?.n ?? 0) + 1]);
      });
    await Promise.all(Array.from({ length: 25 }, increment));
    expect(await readBox(id)).toBe(25);
  });

  it('is usable after a script failed half way, and keeps nothing of it', async () => {
    await expect(db.exec('BEGIN; CREATE TABLE half (n integer); SELECT 1 / 0; COMMIT;')).rejects.toThrow(
      'division by zero',
    );
    expect(await single(`SELECT to_regclass('half') AS half`, [])).toEqual({ half: null });
  });

  it('runs a known statement again after a migration changed its columns', async () => {
    await db.exec('CREATE TABLE wide (a integer); INSERT INTO wide VALUES (1);');
    const read = async () => (await db.query('SELECT * FROM wide')).rows[0];
    for (let turn = 0; turn < 8; turn += 1) expect(await read()).toEqual({ a: 1 });
    await db.exec('ALTER TABLE wide ADD b text DEFAULT $$new$$');
    for (let turn = 0; turn < 8; turn += 1) expect(await read()).toEqual({ a: 1, b: 'new' });
  });

  it('answers a ping, and after closing says that it is unavailable', async () => {
    const other = await open();
    await other.db.ping();
    await other.db.close();
    await expect(other.db.query('SELECT 1')).rejects.toBeInstanceOf(DbUnavailableError);
    await expect(other.db.ping()).rejects.toBeInstanceOf(DbUnavailableError);
    await other.close();
  });
});
