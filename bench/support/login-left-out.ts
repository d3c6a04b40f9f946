// A worker that measures the pages of one site with a detector whose tables lack that site's own words.
import { parentPort, workerData } from 'node:worker_threads';
import type { CorpusPage } from './login-corpus.ts';
import { dropPhrases } from './login-words.ts';
import type { Phrase } from './login-words.ts';

/** Input of the worker. */
export type LeftOut = { pages: readonly CorpusPage[]; phrases: readonly Phrase[] };
/** Output of the worker: counts by name, and a line per page with a miss. */
export type LeftOutResult = { parts: [string, { right: number; of: number }][]; misses: string[] };

const { pages, phrases } = workerData as LeftOut;
dropPhrases(phrases);
const { planLogin } = await import('../../src/login/detection/classify.ts');
const { judge, Score } = await import('./login-scoring.ts');
const score = new Score();
const misses: string[] = [];
for (const page of pages) {
  const plan = planLogin(page.observation);
  const found = judge(page, plan, score).map(({ cause, text }) => `${cause}: ${text}`);
  if (found.length > 0) misses.push(`${page.file}: ${found.join('; ')} (${plan.reason}: ${plan.evidence.join(', ')})`);
}
parentPort?.postMessage({ parts: [...score.parts], misses } satisfies LeftOutResult);
