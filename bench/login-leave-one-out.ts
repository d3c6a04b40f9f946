// Measures how well logins are found on a site if the word tables lack the words that occur only on that site. Leaves
// out one site after another.
// `node bench/login-leave-one-out.ts CORPUS`, or CAPSTAN_LOGIN_CORPUS; the corpus as for `login-detection.ts`.
// Needs: Chromium (make services) and a corpus of pages.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { chromium } from 'playwright-core';
import { installDetection } from '../src/login/detection/observe.ts';
import { printMachine } from './support/figures.ts';
import { observeCorpus } from './support/login-corpus.ts';
import type { CorpusPage } from './support/login-corpus.ts';
import type { LeftOut, LeftOutResult } from './support/login-left-out.ts';
import { Score } from './support/login-scoring.ts';
import { findOwnPhrases, listTexts, readSite } from './support/login-words.ts';
import { requireChromium } from './support/needs.ts';

async function observeAll(folder: string): Promise<CorpusPage[]> {
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath: requireChromium(), args: asRoot });
  try {
    const context = await browser.newContext();
    await installDetection(context);
    const pages: CorpusPage[] = [];
    for await (const page of observeCorpus(folder, context)) pages.push(page);
    return pages;
  } finally {
    await browser.close();
  }
}

async function measure(leftOut: LeftOut): Promise<LeftOutResult> {
  const worker = new Worker(new URL('support/login-left-out.ts', import.meta.url), { workerData: leftOut });
  const [result] = (await once(worker, 'message')) as [LeftOutResult];
  return result;
}

const folder = process.argv[2] ?? process.env['CAPSTAN_LOGIN_CORPUS'];
if (folder === undefined) {
  console.log('Give the folder of the pages: node bench/login-leave-one-out.ts CORPUS');
  process.exit(0);
}
const sites = Map.groupBy(await observeAll(folder), ({ file }) => readSite(file));
const texts = new Map(
  [...sites].map(([site, pages]) => [site, pages.map(({ observation }) => listTexts(observation)).join('\n')]),
);
const own = findOwnPhrases(texts);
const score = new Score();
const misses: string[] = [];
for (const [site, pages] of sites) {
  const phrases = own.get(site) ?? [];
  const result = await measure({ pages, phrases });
  for (const [name, part] of result.parts) score.merge(name, part);
  misses.push(...result.misses.map((miss) => `${miss} without ${phrases.map(({ phrase }) => phrase).join(', ')}`));
}
printMachine();
const dropped = [...own.values()].reduce((sum, phrases) => sum + phrases.length, 0);
score.print(`${sites.size} sites, each without its own words (${dropped} phrases)`);
console.log('\nmisses');
for (const miss of misses) console.log(`  ${miss}`);
