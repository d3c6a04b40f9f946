// Tests: test/login/fleet.test.ts, test/login/prewarmed.test.ts
import type { BrowserContext } from 'playwright-core';
import { untilAborted, withTimeout } from '../../platform/abort.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/log.ts';
import { omitUndefined } from '../../platform/records.ts';
import { LoginError } from '../login-error.ts';
import { openBeside, openContext } from './contexts.ts';
import type { ContextOptions, OpenContext } from './contexts.ts';
import { removeLeftovers } from './leftovers.ts';
import { BrowserPool, SLOW_MS, buildMissingBrowserError } from './pool.ts';
import type { PoolOptions, PooledBrowser } from './pool.ts';
import type { JobProxy } from './proxy.ts';
import { openSlots } from './slots.ts';

export type SlotRequest = ContextOptions & { organizationId: string; signal: AbortSignal };

/** The browser context of one job. It shares no cookies, cache or connections with other jobs. */
export type BrowserSlot = {
  context: BrowserContext;
  proxy: JobProxy;
  /** the `user-agent` of the browser */
  userAgent: string;
  /** aborted when the browser has ended */
  lost: AbortSignal;
  /** Opens a second context with the same network access and no session. The caller closes it. */
  openStranger(): Promise<BrowserContext>;
  /** Lends the slot to another job while `work` waits for a person. */
  releaseWhile<T>(work: () => Promise<T>): Promise<T>;
  /** Leaves nothing behind. Never throws. */
  close(): Promise<void>;
};

/** `maxJobs`: concurrent jobs */
export type FleetOptions = PoolOptions & { maxJobs: number };

export type Fleet = {
  /** Throws `capacity` when no slot becomes free in time, or no browser can be started. */
  open(request: SlotRequest): Promise<BrowserSlot>;
  /** Starts a browser for the next job, if browsers are kept ready from the start. */
  keepWarm(): void;
  /** process ids of the running browsers */
  pids(): number[];
  /** jobs that hold a slot, have lent their slot, or wait for one */
  count(): { inUse: number; paused: number; waiting: number };
  close(): Promise<void>;
};

/** ms that a job waits for a slot */
const WAIT_MS = 15_000;

/** The browsers of this process and the jobs that run in them. */
export function openFleet({ egress, log }: { egress: Egress; log: Logger }, options: FleetOptions): Fleet {
  const pool = new BrowserPool({ egress, log }, options);
  const slots = openSlots(options.maxJobs, WAIT_MS);
  const closings = new Set<Promise<void>>();

  const closeLater = (closing: Promise<void>): Promise<void> => {
    closings.add(closing);
    void closing.finally(() => closings.delete(closing));
    return closing;
  };

  if (options.program !== undefined) void removeLeftovers(log);
  return {
    async open(request) {
      if (options.program === undefined) throw buildMissingBrowserError();
      const slot = await slots.acquire(request.signal);
      const releaseWhile = async <T>(work: () => Promise<T>): Promise<T> => {
        const resume = slot.pause();
        try {
          return await work();
        } finally {
          await resume(request.signal);
        }
      };
      try {
        const acquiring = pool.acquire(request.organizationId);
        const browser = await untilAborted(acquiring, request.signal, (late) => pool.release(late));
        const job = await openJob({ pool, browser, egress }, request);
        return { ...job, releaseWhile, close: () => closeLater(job.close().finally(() => slot.release())) };
      } catch (error) {
        slot.release();
        throw error;
      } finally {
        pool.keepWarm();
      }
    },
    keepWarm: () => pool.keepWarm(),
    pids: () => pool.pids(),
    count: slots.count,
    async close() {
      await pool.close();
      await Promise.all(closings);
    },
  };
}

/** Opens the context of a job, and releases the browser once the context is closed. */
async function openJob(
  { pool, browser, egress }: { pool: BrowserPool; browser: PooledBrowser; egress: Egress },
  { signal, storageState, httpCredentials, userAgent }: SlotRequest,
): Promise<Omit<BrowserSlot, 'releaseWhile'>> {
  const options = omitUndefined({ storageState, httpCredentials, userAgent });
  const open = async (): Promise<OpenContext> => {
    const prewarmed = Object.keys(options).length === 0 ? await browser.prewarmed.take() : undefined;
    return prewarmed ?? openContext({ own: browser.own, egress }, options);
  };
  // Waits for a slow browser until the deadline of the job: on a busy machine all browsers are slow.
  const opening = pool.exhaustIfSlow(browser, open());
  try {
    const { context, proxy } = await untilAborted(opening, signal);
    let closing: Promise<void> | undefined;
    const close = async () => {
      await withTimeout(SLOW_MS, context.close(), 'closing a browser context').catch(() => pool.exhaust(browser));
      await proxy.close();
      pool.release(browser);
    };
    const shown = userAgent ?? browser.own.userAgent;
    const openStranger = () => openBeside(browser.own, proxy);
    return {
      context,
      proxy,
      openStranger,
      userAgent: shown,
      lost: browser.lost.signal,
      close: () => (closing ??= close()),
    };
  } catch (error) {
    opening.then(({ context, proxy }) => Promise.all([context.close(), proxy.close()])).catch(() => undefined);
    pool.release(browser);
    throw signal.aborted ? signal.reason : new LoginError('capacity', 'The browser did not answer.', { cause: error });
  }
}
