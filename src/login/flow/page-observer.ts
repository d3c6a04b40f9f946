import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { openClosedRoots } from '../detection/closed-roots.ts';
import type { Observation } from '../detection/description.ts';
import { observePage } from '../detection/observe.ts';
import { readInterstitial } from '../detection/interstitials.ts';
import { planLogin } from '../detection/classify.ts';
import { readOutcome } from '../detection/outcome-signals.ts';
import type { Site } from '../site.ts';
import type { PageSnapshot } from './evidence.ts';

/** A snapshot with the live page, its visible text, and the observation that the plan was made from. */
export type ObservedPage = PageSnapshot & {
  page: Page;
  text: string;
  observation: Observation;
  /** `performance.now()` when the observation began; on a busy machine its result is already old */
  at: number;
};

/** Host of Chromium's own page for a failed load. */
const ERROR_HOST = 'chromewebdata';
/** ms before a page that is navigating is observed again */
const NAVIGATING_MS = 60;
/** maximum ms to wait for a busy page to become idle */
const IDLE_WITHIN_MS = 5000;

/** Runs in the page: resolves once its main thread has nothing left to do. */
function waitForIdle(timeout: number): Promise<void> {
  type Idle = { requestIdleCallback(run: () => void, options: { timeout: number }): void };
  return new Promise((resolve) => (globalThis as unknown as Idle).requestIdleCallback(() => resolve(), { timeout }));
}

/** Observes the newest page of the site, because a button may open a new window. */
export function openPageObserver(context: BrowserContext, site: Site) {
  const numbers = new WeakMap<Page, number>();
  let lastNumber = 0;
  /** documents that were searched for closed shadow roots */
  const searched = new Set<string>();

  const numberOf = (page: Page): number => {
    const number = numbers.get(page) ?? (lastNumber += 1);
    numbers.set(page, number);
    return number;
  };
  const choosePage = (): Page => {
    const pages = context.pages().filter((page) => !page.isClosed());
    const page = pages.findLast((each) => site.allows(each.url())) ?? pages[0];
    if (page === undefined) throw new Error('every page has been closed');
    return page;
  };
  /** Undefined if the page navigated meanwhile, or changed once its closed shadow roots were opened. */
  const observeOnce = async (page: Page): Promise<ObservedPage | undefined> => {
    const at = performance.now();
    const url = page.url();
    const observation = await observePage(page, (address) => site.allows(address));
    const [top] = observation.frames;
    if (top === undefined || page.url() !== url) return undefined;
    const document = `${numberOf(page)}:${top.timeOrigin}`;
    const plan = planLogin(observation);
    if (plan.reason !== 'fill' && !searched.has(document)) {
      searched.add(document);
      if ((await openClosedRoots(page)) > 0) return undefined;
    }
    const text = observation.frames.map((frame) => frame.text).join('\n');
    const { loaded, host } = top;
    const signals = readOutcome(observation);
    const interstitial = readInterstitial(observation, plan, signals);
    const failed = host === ERROR_HOST;
    return { url, document, loaded, failed, plan, signals, interstitial, page, text, observation, at };
  };
  return {
    /** Throws the signal's reason. */
    async observe(signal: AbortSignal): Promise<ObservedPage> {
      for (;;) {
        signal.throwIfAborted();
        const page = choosePage();
        try {
          const observed = await observeOnce(page);
          if (observed !== undefined) return observed;
        } catch (error) {
          if (page.isClosed() && context.pages().length === 0) throw error;
          // The page navigated while it was observed.
          await sleep(NAVIGATING_MS, undefined, { signal });
        }
      }
    },
    /** Resolves once the page's main thread is idle, after 5 s at the latest, or when the page navigates. */
    async waitForIdle({ page }: ObservedPage): Promise<void> {
      await page.evaluate(waitForIdle, IDLE_WITHIN_MS).catch(() => undefined);
    },
  };
}

export type PageObserver = ReturnType<typeof openPageObserver>;
