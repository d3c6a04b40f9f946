import { setTimeout as sleep } from 'node:timers/promises';
import type { Interstitial } from '../detection/interstitials.ts';
import type { ObservedPage, PageObserver } from './page-observer.ts';

const LOOK_EVERY_MS = 400;

function isSame({ url, interstitial }: ObservedPage, before: ObservedPage, found: Interstitial): boolean {
  if (interstitial?.kind !== found.kind) return false;
  if (found.kind === 'number_match' && interstitial.hint !== found.hint) return false;
  const path = (address: string) => {
    const { origin = '', pathname = '' } = URL.parse(address) ?? {};
    return origin + pathname;
  };
  return path(url) === path(before.url);
}

/** Resolves with the new observation once an interstitial page has continued on its own. Throws the signal's reason. */
export async function watchPage(
  observer: PageObserver,
  before: ObservedPage,
  found: Interstitial,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    await sleep(LOOK_EVERY_MS, undefined, { signal });
    const current = await observer.observe(signal);
    if (!isSame(current, before, found)) return;
  }
}
