import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { planLogin } from '../../../src/login/detection/classify.ts';
import { readInterstitial } from '../../../src/login/detection/interstitials.ts';
import { readOutcome } from '../../../src/login/detection/outcome-signals.ts';
import type { Attempt, PageSnapshot } from '../../../src/login/flow/evidence.ts';
import { assess } from '../../../src/login/flow/outcome.ts';
import { SIMPLE, observe, openTestBrowser } from '../detection/pages.ts';
import { BEHIND } from '../../support/login-sites/strangers-between.ts';
import { REFUSING } from '../../support/login-sites/strangers-refusing.ts';
import { LAYOUTS, drawSignedOut } from './pages.ts';
import { LANGUAGES } from './vocabulary.ts';

const testBrowser = await openTestBrowser();
afterAll(() => testBrowser?.[Symbol.asyncDispose]());

let page: Page | undefined;
let documents = 0;

/** Draws a page into the one that is open, which costs a tenth of a navigation; it counts as a document of its own. */
async function takeSnapshot(html: string, url: string): Promise<PageSnapshot> {
  page ??= await testBrowser!.open(wrap(''));
  await page.setContent(html, { waitUntil: 'domcontentloaded' });
  const observation = await observe(page);
  const plan = planLogin(observation);
  const signals = readOutcome(observation);
  documents += 1;
  const interstitial = readInterstitial(observation, plan, signals);
  return { url, document: String(documents), loaded: true, failed: false, plan, signals, interstitial };
}

const wrap = (html: string, language = 'en') =>
  `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>Example</title></head><body>${html}</body></html>`;
const answered = {
  carriesSecret: true,
  secrets: 2,
  byAuthorization: false,
  status: 303,
  isNavigation: true,
  reportsFailure: false,
  broken: false,
};
const SETTLED = { networkIdleMs: 5000, sinceSubmitMs: 5000, settled: true };

let loginPage: PageSnapshot | undefined;

/** What a page says behind a login form that was submitted; a success has still to be proven against strangers. */
async function judge(html: string): Promise<{ is: string; isMarked: boolean }> {
  const before = (loginPage ??= await takeSnapshot(wrap(SIMPLE), '/login'));
  const after = await takeSnapshot(html, 'https://site.example/behind');
  const attempt: Attempt = { before, submissions: [answered], newCookie: true, dialogs: [] };
  const verdict = assess('password', after, attempt, SETTLED);
  if (verdict.is === 'failed') return { is: verdict.error.code, isMarked: false };
  if (verdict.is === 'interstitial') return { is: verdict.found.kind, isMarked: false };
  return { is: verdict.is, isMarked: verdict.is === 'proven' && verdict.signals.includes('account') };
}

const PAGES = LANGUAGES.flatMap((words) =>
  Object.entries(LAYOUTS).map(([name, draw]) => ({ name: `${name} (${words.code})`, words, draw })),
);

test.runIf(testBrowser)(
  'at most one in a hundred pages of applications is taken for a refusal',
  async () => {
    const refused: string[] = [];
    for (const { name, words, draw } of PAGES) {
      const { is } = await judge(wrap(draw(words), words.code));
      if (is !== 'proven') refused.push(`${name}: ${is}`);
    }
    expect(PAGES.length).toBeGreaterThanOrEqual(200);
    expect(refused.length > PAGES.length / 100 ? refused : []).toEqual([]);
  },
  180_000,
);

test.runIf(testBrowser)(
  'none of these pages has the marker of an account without a session',
  async () => {
    const marked: string[] = [];
    for (const { name, words, draw } of PAGES) {
      const { isMarked } = await judge(wrap(drawSignedOut(draw, words), words.code));
      if (isMarked) marked.push(name);
    }
    expect(marked).toEqual([]);
  },
  180_000,
);

test.runIf(testBrowser)(
  'no page in between and no refusal has the marker of an account',
  async () => {
    const bodies = [
      ...BEHIND.map(({ shown }) => (typeof shown.body === 'string' ? shown.body : '')),
      ...REFUSING.map(({ text }) => wrap(`<p>${text}</p>`)),
    ].filter((body) => body !== '');
    const marked: string[] = [];
    for (const body of bodies) if ((await judge(body)).isMarked) marked.push(body);
    expect(marked).toEqual([]);
  },
  180_000,
);
