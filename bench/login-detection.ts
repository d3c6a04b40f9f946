// Measures how well logins are found on captured real pages, in Chromium, and how long it takes. Compares with the
// naive method (the first visible password, the text field before it, the first submit), and repeats the measurement
// after mutations of the pages that test generalization.
// `node bench/login-detection.ts CORPUS`, or CAPSTAN_LOGIN_CORPUS: a folder of pages whose fields carry `data-manual-
// scoring` and whose submit buttons carry `data-manual-submit`; the file name contains the kind, and an optional
// `index.json` the titles.
// Needs: Chromium (make services) and a corpus of pages.
import { chromium } from 'playwright-core';
import { planLogin } from '../src/login/detection/classify.ts';
import { buildMatcher, normalizeText } from '../src/login/detection/match.ts';
import { installDetection } from '../src/login/detection/observe.ts';
import { PASSWORD } from '../src/login/detection/words/fields.ts';
import { SIGN_IN } from '../src/login/detection/words/actions.ts';
import { median, milliseconds, printMachine, quantile } from './support/figures.ts';
import { observeCorpus } from './support/login-corpus.ts';
import type { CorpusPage } from './support/login-corpus.ts';
import { MUTATIONS, mutate } from './support/login-mutations.ts';
import { judge, Score, selectNaively } from './support/login-scoring.ts';
import { requireChromium } from './support/needs.ts';

const folder = process.argv[2] ?? process.env['CAPSTAN_LOGIN_CORPUS'];
if (folder === undefined) {
  console.log('Give the folder of the pages: node bench/login-detection.ts CORPUS');
  process.exit(0);
}

const LANGUAGES = Object.keys(SIGN_IN).map((language) => {
  const words = [SIGN_IN, PASSWORD].map((topic) => buildMatcher({ [language]: topic[language] ?? '' }));
  return { language, says: (text: string) => words.some((matches) => matches(text)) };
});

/** The language of most sign-in words on a page; few pages declare theirs. */
function guessLanguage(page: CorpusPage): string {
  const texts = (page.observation.frames[0]?.elements ?? []).map(({ label, text, placeholder }) =>
    normalizeText(label || text || placeholder),
  );
  const counts = LANGUAGES.map(({ language, says }) => ({ language, count: texts.filter(says).length }));
  return counts.toSorted((a, b) => b.count - a.count)[0]?.language ?? 'en';
}

const program = requireChromium();
const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
const browser = await chromium.launch({ executablePath: program, args: asRoot });
try {
  const context = await browser.newContext();
  await installDetection(context);
  const scores = { pages: new Score(), naive: new Score(), languages: new Score() };
  const mutated = MUTATIONS.map((mutation) => ({ mutation, score: new Score() }));
  const causes = new Map<string, number>();
  const observed: number[] = [];
  const planned: number[] = [];
  const naive: number[] = [];
  const misses: string[] = [];
  for await (const page of observeCorpus(folder, context)) {
    let started = performance.now();
    const plan = planLogin(page.observation);
    planned.push(performance.now() - started);
    observed.push(page.observedMs);
    const found = judge(page, plan, scores.pages);
    const told = found.map(({ cause, text }) => `${cause}: ${text}`);
    for (const text of told) causes.set(text, (causes.get(text) ?? 0) + 1);
    if (found.length > 0) misses.push(`${page.file}: ${told.join('; ')} (${plan.reason}: ${plan.evidence.join(', ')})`);
    if (page.expected === 'login') scores.languages.add(guessLanguage(page), found.length === 0);
    started = performance.now();
    const pick = selectNaively(page.observation.frames[0]?.elements ?? []);
    naive.push(performance.now() - started);
    judge(page, pick, scores.naive);
    for (const { mutation, score } of mutated) {
      const observation = mutate(page.observation, mutation);
      judge({ ...page, observation }, planLogin(observation), score);
    }
  }
  printMachine();
  scores.pages.print('all pages');
  scores.naive.print('the naive way, all pages');
  scores.languages.print('login pages without a miss, by language');
  for (const { mutation, score } of mutated) score.print(`${mutation}, all pages`);
  console.log('\nmisses by cause');
  for (const [cause, count] of [...causes].toSorted(([, a], [, b]) => b - a)) console.log(`  ${count} × ${cause}`);
  console.log('\nmisses');
  for (const miss of misses) console.log(`  ${miss}`);
  console.log(`\nobserve: ${milliseconds(median(observed))}, p95 ${milliseconds(quantile(observed, 0.95))}`);
  console.log(
    `plan: ${milliseconds(median(planned))}, p95 ${milliseconds(quantile(planned, 0.95))}; the naive way ${milliseconds(median(naive))}`,
  );
} finally {
  await browser.close();
}
