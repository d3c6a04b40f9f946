import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { openPglite } from '../../../src/platform/db/pglite.ts';
import { setTreeModes } from '../../../src/platform/db/tree-modes.ts';
import { StartupError } from '../../../src/platform/errors.ts';
import { findPreparedDatabase } from '../../../src/platform/store/prepared-database.ts';
import { makeScratch } from '../../support/scratch.ts';

let folder: string;
let dataDir: string;
beforeEach(async () => {
  folder = makeScratch('pglite');
  dataDir = join(folder, 'db');
  await cp(findPreparedDatabase(), dataDir, { recursive: true });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Writes rows one by one and prints how many are committed, until it is killed. */
const WRITER = `
  import { openPglite } from ${JSON.stringify(new URL('../../../src/platform/db/pglite.ts', import.meta.url).href)};
  const db = await openPglite({ dataDir: process.argv[1] });
  await db.exec('CREATE TABLE written (n bigint)');
  for (let n = 1; ; n += 1) {
    await db.query('INSERT INTO written VALUES ($1)', [n]);
    process.stdout.write(n + '\\n');
  }`;

it('has everything that was committed when its process was killed', async () => {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', WRITER, dataDir]);
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', reject);
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      if (output.split('\n').length > 200) resolve();
    });
  });
  await expect(openPglite({ dataDir })).rejects.toThrow(StartupError);
  child.kill('SIGKILL');
  if (child.signalCode === null) await once(child, 'exit');
  const acknowledged = Number(output.split('\n').at(-2));

  const db = await openPglite({ dataDir });
  const { rows } = await db.query('SELECT count(*), max(n) FROM written');
  expect(rows[0]?.count).toBe(rows[0]?.max);
  expect(rows[0]?.max).toBeGreaterThanOrEqual(acknowledged);
  await db.close();
});

it('leaves the event loop free while a statement runs', async () => {
  const db = await openPglite({ dataDir });
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 1);
  await db.query('SELECT count(*) FROM generate_series(1, 2000000)');
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(0);
  await db.close();
});

it('rolls a transaction back whose work waits for a statement outside of it', async () => {
  const db = await openPglite({ dataDir, idleTransactionMs: 50 });
  await db.exec('CREATE TABLE box (n integer)');
  const stuck = db.transaction(async (tx) => {
    await tx.query('INSERT INTO box VALUES (1)');
    await db.query('SELECT 1');
  });
  await expect(stuck).rejects.toThrow('idle');
  expect((await db.query('SELECT * FROM box')).rows).toEqual([]);
  await db.close();
});

it('is copied from a template that others may read as a folder that only its owner may', async () => {
  setTreeModes(dataDir, { folders: 0o755, files: 0o644 });
  const copy = join(folder, 'copy');
  await (await openPglite({ dataDir: copy, template: dataDir })).close();
  for (const path of ['', 'base', 'PG_VERSION', 'global/pg_control']) {
    expect([path, statSync(join(copy, path)).mode & 0o077]).toEqual([path, 0]);
  }
});

it('that was prepared at installation can be read by other users', () => {
  const place = findPreparedDatabase();
  for (const entry of readdirSync(place, { recursive: true, withFileTypes: true })) {
    const mode = statSync(join(entry.parentPath, entry.name)).mode;
    expect([entry.name, mode & 0o044]).toEqual([entry.name, 0o044]);
  }
});
