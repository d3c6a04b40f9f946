import type { Egress } from '../../platform/egress/egress.ts';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import { LoginError } from '../login-error.ts';
import { launchBrowser } from './browser.ts';
import type { BrowserOptions, LoginBrowser } from './browser.ts';
import { openPrewarmedContext } from './contexts.ts';
import type { PrewarmedContext } from './contexts.ts';

export type PoolOptions = Omit<BrowserOptions, 'program'> & {
  /** undefined where the machine has no Chromium */
  program: string | undefined;
  /** keep an unused browser ready from the first `keepWarm` on, not only after the first job */
  warm: boolean;
  /** jobs that a browser serves before it is replaced; default 50 */
  jobsPerBrowser?: number;
};

export type PooledBrowser = {
  own: LoginBrowser;
  /** the organization of its first job: organizations share no browser; undefined while unused */
  organizationId: string | undefined;
  /** running now */
  jobs: number;
  /** since the browser started */
  served: number;
  /** aborted when the browser has ended */
  lost: AbortController;
  prewarmed: PrewarmedContext;
  idleTimer: NodeJS.Timeout | undefined;
};

const IDLE_MS = 60_000;
const WARM_FOR_MS = 300_000;
/** A browser that takes longer to begin or end a job gets no further jobs. */
export const SLOW_MS = 20_000;

const isUnused = ({ organizationId }: PooledBrowser) => organizationId === undefined;

/**
 * Starts browsers on demand, one organization per browser, and closes browsers that are idle or reached their job
 * limit.
 */
export class BrowserPool {
  readonly #egress: Egress;
  readonly #log: Logger;
  readonly #options: PoolOptions;
  readonly #jobsPerBrowser: number;
  readonly #browsers = new Set<PooledBrowser>();
  /** browsers that are starting, by organization; the unused one under the empty name */
  readonly #launching = new Map<string | undefined, Promise<PooledBrowser>>();
  #lastJobAt: number;
  #isClosed = false;

  constructor({ egress, log }: { egress: Egress; log: Logger }, options: PoolOptions) {
    this.#egress = egress;
    this.#log = log;
    this.#options = options;
    this.#jobsPerBrowser = options.jobsPerBrowser ?? 50;
    this.#lastJobAt = options.warm ? Number.POSITIVE_INFINITY : 0;
  }

  /** Process ids of the running browsers. */
  pids(): number[] {
    return [...this.#browsers].map(({ own }) => own.pid);
  }

  /** A browser for one job of the organization. Throws `capacity` where none can be started. */
  async acquire(organizationId: string): Promise<PooledBrowser> {
    if (!this.#options.warm) this.#lastJobAt = performance.now();
    for (;;) {
      const found = this.#find(organizationId) ?? this.#find(undefined);
      if (found !== undefined) {
        found.organizationId = organizationId;
        clearTimeout(found.idleTimer);
        found.jobs += 1;
        found.served += 1;
        return found;
      }
      // The new browser may be full before every waiting job got a turn.
      await this.#launchFor(this.#launching.has(undefined) ? undefined : organizationId);
    }
  }

  /** Ends one job. */
  release(browser: PooledBrowser): void {
    browser.jobs -= 1;
    if (browser.jobs > 0) return;
    if (browser.served >= this.#jobsPerBrowser) void this.#retire(browser);
    else this.#startIdleTimer(browser);
  }

  /** Gives the browser no further jobs. Running jobs continue. */
  exhaust(browser: PooledBrowser): void {
    browser.served = this.#jobsPerBrowser;
    if (browser.jobs === 0) void this.#retire(browser);
  }

  /** Gives the browser no further jobs if `work` takes longer than 20 s. */
  async exhaustIfSlow<T>(browser: PooledBrowser, work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.exhaust(browser), SLOW_MS);
    return work.finally(() => clearTimeout(timer));
  }

  /** Keeps an unused browser ready, so that the next organization does not wait for one to start. */
  keepWarm(): void {
    if (this.#isClosed || this.#options.program === undefined || this.#launching.size > 0) return;
    if ([...this.#browsers].some(isUnused) || !this.#isWarm()) return;
    this.#launchFor(undefined).catch((error: unknown) => {
      this.#log.warn({ error: errorText(error) }, 'could not prewarm a browser');
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#launching.values());
    await Promise.all([...this.#browsers].map((browser) => this.#retire(browser)));
  }

  #isWarm(): boolean {
    return performance.now() - this.#lastJobAt <= WARM_FOR_MS;
  }

  #find(organizationId: string | undefined): PooledBrowser | undefined {
    return [...this.#browsers].find((browser) => {
      const isUsable = browser.served < this.#jobsPerBrowser && browser.own.browser.isConnected();
      return browser.organizationId === organizationId && isUsable;
    });
  }

  /** One start at a time per organization: all of its waiting jobs use that browser. */
  #launchFor(organizationId: string | undefined): Promise<PooledBrowser> {
    const launching = this.#launching.get(organizationId);
    if (launching !== undefined) return launching;
    const launched = this.#launch().finally(() => this.#launching.delete(organizationId));
    this.#launching.set(organizationId, launched);
    return launched;
  }

  async #launch(): Promise<PooledBrowser> {
    const { program } = this.#options;
    if (program === undefined || this.#isClosed) throw buildMissingBrowserError();
    const own = await launchBrowser({ ...this.#options, program }, this.#log).catch((error: unknown) => {
      throw new LoginError('capacity', 'No browser could be started.', { cause: error });
    });
    const browser: PooledBrowser = {
      own,
      organizationId: undefined,
      jobs: 0,
      served: 0,
      lost: new AbortController(),
      prewarmed: openPrewarmedContext({ own, egress: this.#egress }),
      idleTimer: undefined,
    };
    this.#browsers.add(browser);
    own.browser.once('disconnected', () => this.#retire(browser));
    if (this.#isClosed) void this.#retire(browser);
    else this.#startIdleTimer(browser);
    return browser;
  }

  #retire(browser: PooledBrowser): Promise<void> {
    this.#browsers.delete(browser);
    clearTimeout(browser.idleTimer);
    browser.prewarmed.drop();
    if (!browser.lost.signal.aborted) browser.lost.abort(new Error('the browser has ended'));
    return browser.own.close();
  }

  /** Closes an idle browser after a while. The unused browser stays while jobs keep coming. */
  #startIdleTimer(browser: PooledBrowser): void {
    const onIdle = () => {
      if (browser.jobs > 0) return;
      if (isUnused(browser) && this.#isWarm()) this.#startIdleTimer(browser);
      else void this.#retire(browser);
    };
    browser.prewarmed.prepare();
    clearTimeout(browser.idleTimer);
    browser.idleTimer = setTimeout(onIdle, isUnused(browser) ? WARM_FOR_MS : IDLE_MS).unref();
  }
}

export function buildMissingBrowserError(): LoginError {
  return new LoginError('capacity', 'There is no browser: Chromium is missing.');
}
