import type { BrowserContext } from 'playwright-core';
import type { Egress } from '../../platform/egress/egress.ts';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import { omitUndefined } from '../../platform/records.ts';
import { untilAborted, withTimeout } from '../../platform/abort.ts';
import { LoginError } from '../login-error.ts';
import { launchBrowser } from './browser.ts';
import type { BrowserOptions, LoginBrowser } from './browser.ts';
import { openContext, openPrewarmedContext } from './contexts.ts';
import type { ContextOptions, OpenContext, PrewarmedContext } from './contexts.ts';
import { removeLeftovers } from './leftovers.ts';
import type { JobProxy } from './proxy.ts';
import { openSlots } from './slots.ts';

export type SlotRequest = ContextOptions & { organizationId: string; signal: AbortSignal };

/** A browser context of one job's own: no cookie, cache or connection is shared with another. */
export type BrowserSlot = {
  context: BrowserContext;
  proxy: JobProxy;
  /** aborted when the browser has gone from under it */
  lost: AbortSignal;
  /** Lends its place to another job for as long as `work` takes, which waits for somebody and not for the browser. */
  rest<T>(work: () => Promise<T>): Promise<T>;
  /** Leaves nothing behind. Never throws. */
  close(): Promise<void>;
};

export type FleetOptions = Omit<BrowserOptions, 'program'> & {
  /** undefined where the machine has no Chromium */
  program: string | undefined;
  /** jobs at a time */
  maxJobs: number;
  /** a browser stands ready from the start on, not only after the first job */
  warm: boolean;
  /** jobs that a browser serves before it is replaced; default 50 */
  jobsPerBrowser?: number;
};

export type Fleet = {
  /** Throws `capacity` when no slot becomes free in time, and when there is no browser to be had. */
  open(request: SlotRequest): Promise<BrowserSlot>;
  /** process ids of the browsers that run now */
  pids(): number[];
  /** jobs that have a place, that rest, and that wait for one */
  count(): { taken: number; resting: number; waiting: number };
  close(): Promise<void>;
};

type Member = {
  own: LoginBrowser;
  /** whose jobs it runs, from the first one on; organizations share no browser */
  organizationId: string | undefined;
  jobs: number;
  served: number;
  lost: AbortController;
  prewarmed: PrewarmedContext;
  idle: NodeJS.Timeout | undefined;
};

const WAIT_MS = 15_000;
const IDLE_MS = 60_000;
const WARM_FOR_MS = 300_000;
/** A browser that takes longer than this to begin or end a job is not given more of them. */
const SLOW_MS = 20_000;

/** Starts browsers by need, one organization to a browser, and ends them when they are idle or have served enough. */
export function openFleet({ egress, log }: { egress: Egress; log: Logger }, options: FleetOptions): Fleet {
  const { program, jobsPerBrowser = 50 } = options;
  const members = new Set<Member>();
  const seats = openSlots(options.maxJobs, WAIT_MS);
  /** browsers on their way, by whom they are for; those that are to stand ready under no name */
  const launching = new Map<string | undefined, Promise<Member>>();
  let lastJob = options.warm ? Number.POSITIVE_INFINITY : 0;
  const closings = new Set<Promise<void>>();
  let closed = false;

  const launch = async (): Promise<Member> => {
    if (program === undefined || closed) throw new LoginError('capacity', 'There is no browser: Chromium is missing.');
    const own = await launchBrowser({ ...options, program }, log).catch((error: unknown) => {
      throw new LoginError('capacity', 'No browser could be started.', { cause: error });
    });
    const member: Member = {
      own,
      organizationId: undefined,
      jobs: 0,
      served: 0,
      lost: new AbortController(),
      prewarmed: openPrewarmedContext({ own, egress }),
      idle: undefined,
    };
    members.add(member);
    own.browser.once('disconnected', () => retire(member));
    if (closed) void retire(member);
    else rest(member);
    return member;
  };
  /** One at a time for an organization: all of its jobs that come meanwhile go into it. */
  const launchFor = (organizationId: string | undefined): Promise<Member> => {
    const onItsWay = launching.get(organizationId);
    if (onItsWay !== undefined) return onItsWay;
    const member = launch().finally(() => launching.delete(organizationId));
    launching.set(organizationId, member);
    return member;
  };
  const retire = (member: Member): Promise<void> => {
    members.delete(member);
    clearTimeout(member.idle);
    member.prewarmed.drop();
    if (!member.lost.signal.aborted) member.lost.abort(new Error('the browser has gone'));
    return member.own.close();
  };
  /** A browser that nobody has used yet, so that the next organization need not wait for one. */
  const keepWarm = () => {
    if (closed || program === undefined || launching.size > 0) return;
    if ([...members].some(({ organizationId }) => organizationId === undefined)) return;
    if (performance.now() - lastJob > WARM_FOR_MS) return;
    launchFor(undefined).catch((error: unknown) => log.warn({ error: errorText(error) }, 'no browser stands ready'));
  };
  /** What is not used goes after a while; the one that stands ready stays as long as there is work. */
  const rest = (member: Member) => {
    const used = member.organizationId !== undefined;
    const look = () => {
      if (member.jobs > 0) return;
      const awaited = member.organizationId === undefined && performance.now() - lastJob <= WARM_FOR_MS;
      if (awaited) rest(member);
      else void retire(member);
    };
    member.prewarmed.prepare();
    clearTimeout(member.idle);
    member.idle = setTimeout(look, used ? IDLE_MS : WARM_FOR_MS).unref();
  };
  const choose = async (organizationId: string): Promise<Member> => {
    const fits = (member: Member) => member.served < jobsPerBrowser && member.own.browser.isConnected();
    const find = (owner: string | undefined) =>
      [...members].find((member) => member.organizationId === owner && fits(member));
    const found = find(organizationId) ?? find(undefined);
    if (found === undefined) {
      await launchFor(launching.has(undefined) ? undefined : organizationId);
      // It may have been taken, or have served enough, before all who waited for it had their turn.
      return choose(organizationId);
    }
    found.organizationId = organizationId;
    clearTimeout(found.idle);
    found.jobs += 1;
    found.served += 1;
    return found;
  };
  /** What does not answer in time takes no more jobs; those that it has may still come to their end. */
  const wearOut = (member: Member) => {
    member.served = jobsPerBrowser;
    if (member.jobs === 0) void retire(member);
  };
  const release = (member: Member) => {
    member.jobs -= 1;
    if (member.jobs > 0) return;
    if (member.served >= jobsPerBrowser) void retire(member);
    else rest(member);
  };
  const noteSlowness = async <T>(member: Member, work: Promise<T>): Promise<T> => {
    const timer = setTimeout(() => wearOut(member), SLOW_MS);
    return work.finally(() => clearTimeout(timer));
  };

  const openSeat = async (member: Member, request: SlotRequest): Promise<Omit<BrowserSlot, 'rest'>> => {
    const { signal, storageState, httpCredentials } = request;
    const options = {
      ...omitUndefined({ storageState, httpCredentials }),
    };
    const find = async () => {
      const prewarmed = Object.keys(options).length === 0 ? await member.prewarmed.take() : undefined;
      return prewarmed ?? openContext({ own: member.own, egress }, options);
    };
    const leave = async ({ proxy }: OpenContext) => {
      await proxy.close();
      release(member);
    };
    // One that takes long is waited for as long as its job has time: on a busy machine all of them take long.
    const opening = noteSlowness(member, find());
    try {
      const opened = await untilAborted(opening, signal);
      const { context, proxy } = opened;
      let closing: Promise<void> | undefined;
      const end = async () => {
        await withTimeout(SLOW_MS, context.close(), 'closing a browser context').catch(() => wearOut(member));
        await leave(opened);
      };
      return { context, proxy, lost: member.lost.signal, close: () => (closing ??= end()) };
    } catch (error) {
      opening.then(({ context, proxy }) => Promise.all([context.close(), proxy.close()])).catch(() => undefined);
      release(member);
      throw signal.aborted
        ? signal.reason
        : new LoginError('capacity', 'The browser did not answer.', { cause: error });
    }
  };

  /** Nobody may wait for a slot that closes, but for the fleet, which waits for all. */
  const follow = (closing: Promise<void>): Promise<void> => {
    closings.add(closing);
    void closing.finally(() => closings.delete(closing));
    return closing;
  };

  if (program !== undefined) void removeLeftovers(log);
  if (options.warm) keepWarm();
  return {
    async open(request) {
      if (program === undefined) throw new LoginError('capacity', 'There is no browser: Chromium is missing.');
      lastJob = options.warm ? lastJob : performance.now();
      const place = await seats.take(request.signal);
      const rest = async <T>(work: () => Promise<T>): Promise<T> => {
        const resume = place.rest();
        try {
          return await work();
        } finally {
          await resume(request.signal);
        }
      };
      try {
        const choosing = choose(request.organizationId);
        const member = await untilAborted(choosing, request.signal, release);
        const slot = await openSeat(member, request);
        return { ...slot, rest, close: () => follow(slot.close().finally(() => place.leave())) };
      } catch (error) {
        place.leave();
        throw error;
      } finally {
        keepWarm();
      }
    },
    pids: () => [...members].map(({ own }) => own.pid),
    count: seats.count,
    async close() {
      closed = true;
      await Promise.allSettled(launching.values());
      await Promise.all([...members].map(retire));
      await Promise.all(closings);
    },
  };
}
