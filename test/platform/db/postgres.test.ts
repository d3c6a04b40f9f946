import { describe, expect, it } from 'vitest';

import { DbUnavailableError } from '../../../src/platform/db/db.ts';
import { openPostgres } from '../../../src/platform/db/postgres.ts';
import { openPostgresDatabase } from '../../support/database.ts';
import { findService } from '../../support/find-service.ts';
import { findFreePort } from '../../support/services/process.ts';

const url = await findService('postgres');

describe.skipIf(url === undefined)('PostgreSQL', () => {
  const open = () => openPostgresDatabase(url ?? '', { poolSize: 3 });

  /** Closes every connection of the database from outside, as a failover does. */
  const cut = async (own: string) => {
    const name = new URL(own).pathname.slice(1);
    const admin = await openPostgres({ url: url ?? '', poolSize: 1 });
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    await admin.close();
  };

  it('continues after idle connections were cut', async () => {
    const database = await open();
    const { db, url: own } = database;
    await Promise.all([1, 2, 3].map(() => db.query('SELECT pg_sleep(0.02)')));
    await cut(own);
    await expect
      .poll(() =>
        db.query('SELECT 1 AS one').then(
          ({ rows }) => rows,
          () => 'away',
        ),
      )
      .toEqual([{ one: 1 }]);
    await database.close();
  });

  it('reports interrupted statements and transactions as unavailable, and continues', async () => {
    const database = await open();
    const { db, url: own } = database;
    const running = [
      db.query('SELECT pg_sleep(20)'),
      db.transaction(async (tx) => {
        await tx.query('SELECT pg_sleep(20)');
      }),
    ].map((work) => work.catch((error: unknown) => error));
    const busy = () =>
      db.query(`SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(20)%' AND state = 'active'`);
    await expect.poll(async () => (await busy()).rowCount).toBeGreaterThan(2);
    await cut(own);
    for (const outcome of await Promise.all(running)) expect(outcome).toBeInstanceOf(DbUnavailableError);
    await expect
      .poll(() =>
        db.ping().then(
          () => 'up',
          () => 'away',
        ),
      )
      .toBe('up');
    await database.close();
  });

  it('does not take an error of the work inside a transaction for its own', async () => {
    const database = await open();
    const { db } = database;
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    await expect(db.transaction(() => Promise.reject(refused))).rejects.toBe(refused);
    await database.close();
  });

  it('gives a connection back clean after a failed transaction', async () => {
    const database = await openPostgresDatabase(url ?? '', { poolSize: 1 });
    await expect(database.db.transaction((tx) => tx.query('SELECT 1 / 0'))).rejects.toMatchObject({ code: '22012' });
    expect((await database.db.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await database.close();
  });

  it('reports unavailable without a server', async () => {
    const none = `postgres://capstan@127.0.0.1:${await findFreePort()}/none`;
    await expect(openPostgres({ url: none })).rejects.toBeInstanceOf(DbUnavailableError);
  });

  it('says unavailable when no connection becomes free in time', async () => {
    const database = await open();
    // Enough to connect on a busy machine: the same timeout limits that.
    const db = await openPostgres({ url: database.url, poolSize: 1, connectTimeoutMs: 2000 });
    const { promise: refused, resolve: release } = Promise.withResolvers<void>();
    const holding = db.transaction(() => refused);
    await expect(db.query('SELECT 1')).rejects.toBeInstanceOf(DbUnavailableError);
    release();
    await holding;
    await db.close();
    await database.close();
  });

  it('ends a statement that takes longer than its time', async () => {
    const database = await open();
    const db = await openPostgres({ url: database.url, statementTimeoutMs: 500 });
    await expect(db.query('SELECT pg_sleep(20)')).rejects.toMatchObject({ code: '57014' });
    await db.exec('SELECT pg_sleep(1)');
    await expect(db.query('SELECT pg_sleep(20)')).rejects.toMatchObject({ code: '57014' });
    await db.close();
    await database.close();
  });

  it('rolls an idle transaction back', async () => {
    const database = await open();
    const db = await openPostgres({ url: database.url, idleTransactionMs: 50 });
    const stuck = db.transaction(async (tx) => {
      await tx.query('SELECT 1');
      await db.query('SELECT pg_sleep(0.3)');
      await tx.query('SELECT 1');
    });
    await expect(stuck).rejects.toBeInstanceOf(DbUnavailableError);
    await db.close();
    await database.close();
  });
});
