import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { openClosedRoots } from '../detection/closed-roots.ts';
import type { Observation } from '../detection/description.ts';
import { observePage } from '../detection/observe.ts';
import { planLogin } from '../detection/classify.ts';
import { readOutcome } from '../detection/outcome.ts';
import type { Site } from '../site.ts';
import type { Look } from './evidence.ts';

/** A look, the words on the page for whoever has to explain a question, and what the plan was made from. */
export type ObservedPage = Look & {
  page: Page;
  text: string;
  observation: Observation;
  /** `performance.now()` when the observation began; on a busy machine it is old by the time it is read */
  at: number;
};

/** Of the page that Chromium shows in place of one that did not come. */
const ERROR_HOST = 'chromewebdata';
/** ms between two tries to look at a page that is just going elsewhere */
const BETWEEN_DOCUMENTS_MS = 60;

/** Looks at the page in front: the newest one of the site, since a button may open a window of its own. */
export function openPageObserver(context: BrowserContext, site: Site) {
  const documents = new WeakMap<Page, number>();
  /** in which closed shadow roots have been looked for */
  const opened = new Set<number>();
  let count = 0;
  const listen = (page: Page) => {
    documents.set(page, (count += 1));
    page.on('domcontentloaded', () => documents.set(page, (count += 1)));
  };
  context.on('page', listen);
  for (const page of context.pages()) listen(page);

  const choose = (): Page => {
    const pages = context.pages().filter((page) => !page.isClosed());
    const page = pages.findLast((each) => site.allows(each.url())) ?? pages[0];
    if (page === undefined) throw new Error('every page has been closed');
    return page;
  };
  return {
    /** Throws the signal's reason. */
    async observe(signal: AbortSignal): Promise<ObservedPage> {
      for (;;) {
        signal.throwIfAborted();
        const page = choose();
        const document = documents.get(page) ?? 0;
        const at = performance.now();
        try {
          const observation = await observePage(page, (url) => site.allows(url));
          if (document !== documents.get(page)) continue;
          const text = observation.frames.map((frame) => frame.text).join('\n');
          const plan = planLogin(observation);
          if (plan.reason !== 'fill' && !opened.has(document)) {
            opened.add(document);
            if ((await openClosedRoots(page)) > 0) continue;
          }
          const failed = observation.frames[0]?.host === ERROR_HOST;
          const signals = readOutcome(observation);
          return { url: page.url(), document, failed, plan, signals, page, text, observation, at };
        } catch (error) {
          if (page.isClosed() && context.pages().length === 0) throw error;
          // It went to its next document while it was looked at.
          await sleep(BETWEEN_DOCUMENTS_MS, undefined, { signal });
        }
      }
    },
  };
}
