// Measures the cost of syncing commits in the embedded database: sequential writes, and 64 concurrent ones, with and
// without sync.
// Needs: nothing. The files are in the system's temporary folder, so set TMPDIR to the disk to measure.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPglite } from '../src/platform/db/pglite.ts';
import { findPreparedDatabase } from '../src/platform/store/prepared-database.ts';
import { median, milliseconds, printMachine, quantile } from './support/figures.ts';

const SEQUENTIAL = 300;
const CONCURRENT = 4_000;
const WRITERS = 64;
const TEXT = 'x'.repeat(300);

async function measure(fsync: boolean): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'capstan-sync-'));
  const db = await openPglite({ dataDir: join(folder, 'db'), template: findPreparedDatabase(), fsync });
  await db.exec('CREATE TABLE box (n bigint, text text)');
  const write = (n: number) => db.query('INSERT INTO box VALUES ($1, $2)', [n, TEXT]);
  const times: number[] = [];
  for (let n = 0; n < SEQUENTIAL; n += 1) {
    const started = performance.now();
    await write(n);
    times.push(performance.now() - started);
  }
  let left = CONCURRENT;
  const started = performance.now();
  const work = async () => {
    while (left-- > 0) await write(left);
  };
  await Promise.all(Array.from({ length: WRITERS }, work));
  const perSecond = (CONCURRENT / (performance.now() - started)) * 1000;
  await db.close();
  rmSync(folder, { recursive: true });
  return `p50 ${milliseconds(median(times))}, p99 ${milliseconds(quantile(times, 0.99))}; ${perSecond.toFixed(0)} writes/s with ${WRITERS} writers`;
}

printMachine();
for (const fsync of [false, true, false, true]) console.log(`fsync ${fsync ? 'on' : 'off'}: ${await measure(fsync)}`);
