import { afterAll, expect, it } from 'vitest';
import { planLogin } from '../../../src/login/detection/classify.ts';
import { readInterstitial } from '../../../src/login/detection/interstitials.ts';
import { readOutcome } from '../../../src/login/detection/outcome-signals.ts';
import type { Attempt, PageSnapshot } from '../../../src/login/flow/evidence.ts';
import { assess } from '../../../src/login/flow/outcome.ts';
import type { Idle, Verdict } from '../../../src/login/flow/outcome.ts';
import { SIMPLE, observe, openTestBrowser } from '../detection/pages.ts';

const testBrowser = await openTestBrowser();
afterAll(() => testBrowser?.[Symbol.asyncDispose]());

async function takeSnapshot(html: string, path: string): Promise<PageSnapshot> {
  const page = await testBrowser!.open({ [path]: `<!doctype html><body>${html}` }, path);
  const observation = await observe(page);
  const document = String(observation.frames[0]!.timeOrigin);
  const plan = planLogin(observation);
  const signals = readOutcome(observation);
  const interstitial = readInterstitial(observation, plan, signals);
  return { url: page.url(), document, loaded: true, failed: false, plan, signals, interstitial };
}

const NEW_PASSWORD = `<form><label>Current password <input type=password name=old></label>
  <label>New password <input type=password name=new></label><label>Repeat new password <input type=password name=again></label>
  <button>Change password</button></form>`;

const answered = {
  carriesSecret: true,
  secrets: 2,
  byAuthorization: false,
  status: 303,
  isNavigation: true,
  reportsFailure: false,
  broken: false,
};

/** Verdicts of the same page, observed at every time that a busy machine may cause, without pending ones. */
function listVerdicts(snapshot: PageSnapshot, attempt: Attempt): string[] {
  const times = [0, 50, 100, 300, 699, 700, 1000, 2999, 3000, 5000, 20_000];
  const found = new Set<string>();
  for (const networkIdleMs of times) {
    for (const sinceSubmitMs of times.filter((ms) => ms >= networkIdleMs)) {
      for (const [settled, loaded] of [
        [true, true],
        [false, true],
        [false, false],
      ] as const) {
        const idle: Idle = { networkIdleMs, sinceSubmitMs, settled };
        const verdict: Verdict = assess('password', { ...snapshot, loaded }, attempt, idle);
        if (verdict.is === 'pending') continue;
        found.add(verdict.is === 'failed' ? verdict.error.code : verdict.is);
      }
    }
  }
  return [...found];
}

const START = '/start';
const LOGOUT = '<a href=/logout>Log out</a>';
const SEARCH = '<form><input type=search name=q><button>Search</button></form>';
const CODE = '<label>Verification code <input name=code></label><button>Verify</button>';

it.runIf(testBrowser).each([
  { name: 'a start page', html: '<h1>Projects</h1>', path: START, newCookie: true, expected: 'proven' },
  { name: 'a form for a new password', html: NEW_PASSWORD, path: START, newCookie: true, expected: 'proven' },
  { name: 'the same form without a cookie', html: NEW_PASSWORD, path: START, newCookie: false, expected: 'proven' },
  { name: 'a search form', html: SEARCH, path: START, newCookie: true, expected: 'proven' },
  { name: 'a new link to sign out', html: SIMPLE + LOGOUT, path: START, newCookie: true, expected: 'proven' },
  { name: 'the login form again', html: SIMPLE, path: '/login', newCookie: true, expected: 'invalid_credentials' },
  { name: 'the form elsewhere', html: SIMPLE, path: START, newCookie: true, expected: 'invalid_credentials' },
  { name: 'a code', html: CODE, path: '/code', newCookie: true, expected: 'next' },
])('one verdict, whenever the page is observed: $name', async ({ html, path, newCookie, expected }) => {
  const before = await takeSnapshot(SIMPLE, '/login');
  const after = await takeSnapshot(html, path);
  expect(listVerdicts(after, { before, submissions: [answered], newCookie, dialogs: [] })).toEqual([expected]);
});

it.runIf(testBrowser)('an emptied form says nothing as long as nothing was sent', async () => {
  const before = await takeSnapshot(SIMPLE, '/login');
  const attempt: Attempt = { before, submissions: [], newCookie: false, dialogs: [] };
  const idle = { networkIdleMs: 2000, sinceSubmitMs: 2000, settled: true };
  expect(assess('password', before, attempt, idle).is).toBe('pending');
  expect(assess('password', before, { ...attempt, submissions: [answered] }, idle).is).toBe('failed');
});
