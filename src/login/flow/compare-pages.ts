import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright-core';
import type { Observation } from '../detection/description.ts';
import { installDetection, observePage } from '../detection/observe.ts';
import type { Site } from '../site.ts';
import { isMemberView, listOffers, showsForm } from './account-marker.ts';

const LOOK_EVERY_MS = 200;
const LOAD_MS = 10_000;
/** maximum ms until a loaded page has no request for half a second; some never stop */
const QUIET_MS = 5000;
/** ms that a page gets to draw a form for an anonymous visitor */
const STRANGER_MS = 8000;
/** additional ms for which the member's page must stay without a form */
const MEMBER_MORE_MS = 1500;
/** ms for which the member's page must show the account without an interruption */
const STAYS_MS = 1000;

type Target = { url: string; site: Site; signal: AbortSignal };

/** Opens the page anew, and observes it until `look` finds something or `forMs` are over. */
async function lookAt<T>(
  context: BrowserContext,
  { url, site, signal }: Target,
  {
    forMs,
    look,
  }: { forMs: number; look: (observation: Observation, ms: number, page: Page) => Promise<T | undefined> },
): Promise<T | undefined> {
  const page = await context.newPage();
  try {
    await page.goto(url, { waitUntil: 'domcontentloaded', timeout: LOAD_MS });
    const start = performance.now();
    while (performance.now() - start < forMs) {
      const observation = await observePage(page, (address) => site.allows(address)).catch(() => undefined);
      const found = observation && (await look(observation, performance.now() - start, page));
      if (found !== undefined) return found;
      await sleep(LOOK_EVERY_MS, undefined, { signal });
    }
    return undefined;
  } finally {
    await page.close().catch(() => undefined);
  }
}

/** What strangers are asked by a page: to fill its form, or to follow a link to one; and the ms until it was drawn. */
type Asked = { observation: Observation; hasForm: boolean; ms: number };

async function lookAsStranger(stranger: BrowserContext, target: Target): Promise<Asked | undefined> {
  let isQuiet = false;
  return lookAt(stranger, target, {
    forMs: STRANGER_MS,
    async look(observation, ms, page): Promise<Asked | undefined> {
      if (showsForm(observation)) return { observation, hasForm: true, ms };
      if (listOffers(observation).length === 0) return undefined;
      if (isQuiet) return { observation, hasForm: false, ms };
      // The page may still draw its form.
      await page.waitForLoadState('networkidle', { timeout: QUIET_MS }).catch(() => undefined);
      isQuiet = true;
      return undefined;
    },
  });
}

async function isMember(context: BrowserContext, target: Target & { asked: Asked }) {
  const { asked } = target;
  const forMs = 2 * asked.ms + MEMBER_MORE_MS;
  if (asked.hasForm) {
    const look = async (observation: Observation) => showsForm(observation) || undefined;
    return (await lookAt(context, target, { forMs, look })) === undefined;
  }
  let since: number | undefined;
  const found = await lookAt(context, target, {
    forMs: Math.max(forMs, STRANGER_MS),
    async look(observation, ms) {
      since = isMemberView(observation, asked.observation) ? (since ?? ms) : undefined;
      return since !== undefined && ms - since >= STAYS_MS ? true : undefined;
    },
  });
  return found === true;
}

export type ComparePorts = {
  context: BrowserContext;
  /** a context without any session; the caller closes it */
  openStranger?: (() => Promise<BrowserContext>) | undefined;
  signal: AbortSignal;
};

/**
 * Whether a page asks anonymous visitors to sign in, but not the owner of the session: by a form that scripts draw, or
 * by a link in place of which the owner sees the account.
 */
export async function asksStrangersOnly(
  { context, openStranger, signal }: ComparePorts,
  { site, url }: { site: Site; url: string },
): Promise<boolean> {
  if (openStranger === undefined || !site.allows(url)) return false;
  const stranger = await openStranger();
  try {
    await installDetection(stranger);
    const asked = await lookAsStranger(stranger, { url, site, signal });
    return asked !== undefined && (await isMember(context, { url, site, signal, asked }));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // A page that fails to load a second time proves nothing.
    if (error instanceof Error) return false;
    throw error;
  } finally {
    await stranger.close().catch(() => undefined);
  }
}
