import { setTimeout as sleep } from 'node:timers/promises';
import type { Interstitial, InterstitialKind } from '../detection/interstitials.ts';
import { LoginError } from '../login-error.ts';
import type { Challenge, ChallengeKind, PageAnswers } from './challenge.ts';
import { EXTERNAL } from './interstitial-errors.ts';
import { labelOptions } from './options.ts';
import type { ObservedPage, PageObserver } from './page-observer.ts';
import { watchPage } from './watch.ts';

const KINDS: Partial<Record<InterstitialKind, ChallengeKind>> = {
  choose_factor: 'choose_factor',
  push: 'push',
  number_match: 'number_match',
  security_key: 'security_key',
  choose_account: 'choose_account',
  consent: 'consent',
  terms: 'terms',
};
/** ms that a page gets to continue after a person reports that they acted: many ask their server every five seconds */
const GRACE_MS = 10_000;

/**
 * Asks the caller of the login what to do on a page, and watches the page meanwhile. Returns the index of the option
 * to press, or undefined once the page has continued on its own.
 */
export async function askAboutPage(
  { answers, observer, signal }: { answers: PageAnswers; observer: PageObserver; signal: AbortSignal },
  observed: ObservedPage,
  found: Interstitial,
): Promise<number | undefined> {
  const kind = KINDS[found.kind] ?? 'human';
  const labels = await labelOptions(observed.page, found);
  const options = labels.map((label, index) => ({ id: String(index + 1), label }));
  const expects = EXTERNAL.has(kind) || options.length === 0 ? 'external' : 'choice';
  const challenge: Challenge = { kind, hint: found.hint, expects, ...(options.length > 0 && { options }) };
  const stop = new AbortController();
  let hasMoved = false;
  const watched = watchPage(observer, observed, found, AbortSignal.any([signal, stop.signal])).then(() => {
    hasMoved = true;
  });
  // Rejects when it is stopped, or with the login itself.
  watched.catch(() => undefined);
  try {
    for (;;) {
      const answer = await answers.get(challenge, false, watched);
      signal.throwIfAborted();
      if ('option' in answer) return findOption(options, answer.option);
      if (!('done' in answer)) throw new LoginError('validation_error', 'option: is required by the page');
      await Promise.race([watched, sleep(GRACE_MS, undefined, { signal })]);
      if (hasMoved) return undefined;
    }
  } finally {
    stop.abort();
  }
}

function findOption(options: readonly { id: string; label: string }[], wanted: string): number {
  const index = options.findIndex(({ id, label }) => id === wanted || label === wanted);
  if (index === -1) throw new LoginError('validation_error', 'option: must be one of those that the page offers');
  return index;
}
