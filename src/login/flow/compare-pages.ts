import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext } from 'playwright-core';
import { planLogin } from '../detection/classify.ts';
import { installDetection, observePage } from '../detection/observe.ts';
import { readOutcome } from '../detection/outcome-signals.ts';
import type { Site } from '../site.ts';
import { hasLoginForm } from './evidence.ts';

const LOOK_EVERY_MS = 200;
const LOAD_MS = 10_000;
/** ms that a page gets to draw a form for an anonymous visitor */
const STRANGER_MS = 8000;
/** additional ms for which the member's page must stay without a form */
const MEMBER_MORE_MS = 1500;

/** ms until the page shows a login form; undefined if it shows none within `forMs`. Throws the signal's reason. */
async function timeForm(
  context: BrowserContext,
  { url, site, signal }: { url: string; site: Site; signal: AbortSignal },
  forMs: number,
): Promise<number | undefined> {
  const page = await context.newPage();
  try {
    await page.goto(url, { waitUntil: 'domcontentloaded', timeout: LOAD_MS });
    const start = performance.now();
    while (performance.now() - start < forMs) {
      const observation = await observePage(page, (address) => site.allows(address)).catch(() => undefined);
      const shown = observation && { plan: planLogin(observation), signals: readOutcome(observation) };
      if (shown !== undefined && hasLoginForm(shown)) return performance.now() - start;
      await sleep(LOOK_EVERY_MS, undefined, { signal });
    }
    return undefined;
  } finally {
    await page.close().catch(() => undefined);
  }
}

export type ComparePorts = {
  context: BrowserContext;
  /** a context without any session; the caller closes it */
  openStranger?: (() => Promise<BrowserContext>) | undefined;
  signal: AbortSignal;
};

/** Whether a script-drawn page asks anonymous visitors to sign in, but not the owner of the session. */
export async function asksStrangersOnly(
  { context, openStranger, signal }: ComparePorts,
  site: Site,
  url: string,
): Promise<boolean> {
  if (openStranger === undefined || !site.allows(url)) return false;
  const stranger = await openStranger();
  try {
    await installDetection(stranger);
    const drawnMs = await timeForm(stranger, { url, site, signal }, STRANGER_MS);
    if (drawnMs === undefined) return false;
    return (await timeForm(context, { url, site, signal }, 2 * drawnMs + MEMBER_MORE_MS)) === undefined;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // A page that fails to load a second time proves nothing.
    if (error instanceof Error) return false;
    throw error;
  } finally {
    await stranger.close().catch(() => undefined);
  }
}
