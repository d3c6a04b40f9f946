// Measures search over ASSETS videos (default 1,000,000) on PostgreSQL: words of every frequency, in the community and
// in histories; the duration, and the processor time of the database.
// Needs: PostgreSQL (make services).
import { openPostgres } from '../src/platform/db/postgres.ts';
import type { Db } from '../src/platform/db/db.ts';
import { runMigrations } from '../src/platform/store/migrate.ts';
import { COMMUNITY, searchAssets } from '../src/video/store/assets.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { findPostmaster } from './support/postmaster.ts';
import { readCpu } from './support/processes.ts';
import { median, milliseconds, printMachine, quantile } from './support/figures.ts';
import { NEEDS, requireFound } from './support/needs.ts';

const ASSETS = Number(process.env['ASSETS'] ?? 1_000_000);
const BATCH = 50_000;
const WORDS = 20_000;
const ORGANIZATIONS = 1000;
const QUERIES = 300;

// Words follow a natural distribution: word 1 is in most prompts, word 20,000 in few.
const PROMPT = `(SELECT string_agg('w' || floor(exp(random() * ln(${WORDS})))::int, ' ') FROM generate_series(1, 12) WHERE n >= 0)`;

async function fill(db: Db): Promise<void> {
  await db.exec(`
    INSERT INTO organizations (id, name) SELECT 'org' || n, 'fill ' || n FROM generate_series(0, ${ORGANIZATIONS}) AS n;
    INSERT INTO generations (id, organization_id, job_id, state, model_name, variant, prompt, request, credits,
      deadline_seconds, queue_tag) VALUES ('gen', 'org0', gen_random_uuid(), 'completed', 'm', 'v', '', '{}', 0, 1, 0);
    DROP INDEX video_assets_once;
    DROP INDEX video_assets_by_text;`);
  for (let from = 0; from < ASSETS; from += BATCH) {
    await db.query(
      `INSERT INTO video_assets (id, scope, generation_id, asset_id, asset_type, prompt, model_name, metadata, object_key, at,
         search_text, place)
       SELECT 'a' || n, s.scope, 'gen', 'a', 'video', p.prompt, 'm', '{}', 'k', now() - ($3 - n) * interval '1 second',
         ' ' || p.prompt, n / CASE s.scope WHEN '' THEN 2 WHEN 'org1' THEN 20 ELSE ${ORGANIZATIONS} END
       FROM generate_series($1::bigint, $2::bigint) AS n CROSS JOIN LATERAL ${PROMPT} AS p (prompt), LATERAL (
         SELECT CASE WHEN n % 2 = 0 THEN '' WHEN n % 20 = 1 THEN 'org1' ELSE 'org' || n % ${ORGANIZATIONS} END) AS s (scope)`,
      [from, Math.min(ASSETS, from + BATCH) - 1, ASSETS],
    );
  }
  // Created at the end, as fast as possible: the same index, in a tenth of the time.
  await db.exec(
    `CREATE INDEX video_assets_by_text ON video_assets
    USING gin (video_shelves(scope, place), search_text gin_trgm_ops) WITH (fastupdate = off)`,
  );
  await db.exec('VACUUM ANALYZE video_assets');
}

function pickWord(query: number, place: number): string {
  const spread = ((query * 7919 + place * 104_729) % 1000) / 1000;
  return `w${Math.floor(Math.exp(Math.log(30) + spread * (Math.log(WORDS) - Math.log(30))))}`;
}

async function measureSearch(db: Db): Promise<void> {
  const postmaster = await findPostmaster(db);
  const run = async (name: string, scopes: string[], pick: (query: number) => string[]) => {
    const times: number[] = [];
    let hits = 0;
    let before = 0;
    for (let query = -20; query < QUERIES; query += 1) {
      if (query === 0) before = readCpu(postmaster);
      const started = performance.now();
      const { rows: found } = await searchAssets(db, { words: pick(Math.abs(query)), scopes, type: null, limit: 24 });
      if (query < 0) continue;
      times.push(performance.now() - started);
      hits += found.length;
    }
    const figures = [median(times), quantile(times, 0.95), quantile(times, 0.99)].map(milliseconds).join(' / ');
    const cpu = milliseconds((readCpu(postmaster) - before) / QUERIES);
    console.log(
      `search, ${name}: p50 / p95 / p99 ${figures}; ${cpu} of a processor; ${(hits / QUERIES).toFixed(1)} hits`,
    );
  };
  const all = [COMMUNITY, 'org1'];
  await run('one word, community and a large history', all, (query) => [pickWord(query, 0)]);
  await run('two words, community and a large history', all, (query) => [pickWord(query, 0), pickWord(query, 1)]);
  await run('one word, a usual history', ['org7'], (query) => [pickWord(query, 0)]);
  for (const word of ['w2', 'w10', 'w30', 'w100', 'w300', 'w1000', 'w3000', 'w10000'])
    await run(word, all, () => [word]);
  await run('the commonest word', all, () => ['w1']);
  await run('two characters', all, () => ['w7']);
  await run('what does not occur', all, (query) => [`zzz${query}`]);
}

printMachine();
const service = requireFound(await startPostgres(), NEEDS.postgres);
const db = await openPostgres({ url: service.url });
try {
  await runMigrations(db);
  const started = performance.now();
  await fill(db);
  const rate = (ASSETS / (performance.now() - started)) * 1000;
  console.log(`${ASSETS} assets of 12 words at ${rate.toFixed(0)} a second`);
  await measureSearch(db);
} finally {
  await db.close();
  await service.stop();
}
