import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { onControl, onWake, sendWake } from '../channels.ts';
import { InterruptedError, LeaseLostError } from '../loop/turn/types.ts';
import { errorText } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { claimSessions, renewLeases, releaseLease } from '../store/leases.ts';
import type { Claim } from '../store/leases.ts';
import { ensureEventPartitions } from '../../platform/store/partitions.ts';
import { enqueuePrompt } from './enqueue.ts';
import { openWorkerMetrics } from './metrics.ts';
import { runSession } from './session.ts';
import type { WorkerDeps } from './session.ts';

export type WorkerOptions = {
  /** sessions at work at once */
  concurrency: number;
  /** how long a lease lasts without renewal; what a crash costs the sessions at work */
  leaseMs: number;
  /** how long a shutdown lets turns go on */
  drainMs: number;
  /** where its metrics go; absent: nowhere */
  registry?: Registry;
};

type Running = { claim: Claim; abort: AbortController; done: Promise<void> };

const POLL_MS = 1000;
/** Partitions are made two months ahead; once a day would do. */
const PARTITIONS_MS = 6 * 3_600_000;

/** Claims sessions that have work and runs them. Resolves when it listens. `close` drains. */
export async function startWorker(deps: WorkerDeps, options: WorkerOptions): Promise<{ close(): Promise<void> }> {
  const { db, bus, log } = deps;
  const owner = newId('wrk');
  const running = new Map<string, Running>();
  const stop = new AbortController();
  const claims = new Set<Promise<Claim[]>>();
  let wanted = new Set<string>();
  let claiming = false;
  /** there may be more work than there was room for: whoever ends looks for it */
  let starved = false;
  let draining = false;
  const metrics =
    options.registry === undefined
      ? undefined
      : openWorkerMetrics(options.registry, { db, log, countRunning: () => running.size });

  const run = async (entry: Running) => {
    const { claim: held, abort } = entry;
    const { sessionId } = held;
    let again = false;
    try {
      again = await runSession(held, deps, abort.signal);
      metrics?.onEnd('done');
    } catch (error) {
      const quiet = error instanceof LeaseLostError || abort.signal.aborted;
      metrics?.onEnd(quiet ? 'lost' : 'failed');
      if (!quiet) log.error({ sessionId, error: errorText(error) }, 'a session could not go on');
      if (!(error instanceof LeaseLostError)) await giveBack(held, quiet ? 0 : POLL_MS);
    } finally {
      // The last write gave the lease back, so the session may be at work here again already.
      if (running.get(sessionId) === entry) running.delete(sessionId);
    }
    if (again && draining) sendWake(bus, sessionId);
    else if (again) wake(sessionId);
    else if (starved) claim().catch((error: unknown) => log.warn({ error: errorText(error) }, 'could not claim'));
  };

  // After a failure the session keeps its wake-up, so that any worker tries again; not at once, lest it spins.
  const giveBack = async (claim: Claim, pauseMs: number) => {
    await sleep(pauseMs, undefined, { signal: stop.signal }).catch(() => undefined);
    await releaseLease(db, claim.sessionId, claim.epoch).catch((error: unknown) => {
      log.warn({ sessionId: claim.sessionId, error: errorText(error) }, 'lease not given back; it will run out');
    });
  };

  const start = (claim: Claim) => {
    const abort = new AbortController();
    if (claim.interrupt !== null) abort.abort(new InterruptedError('Interrupted by the caller.'));
    const entry: Running = { claim, abort, done: Promise.resolve() };
    running.set(claim.sessionId, entry);
    entry.done = run(entry);
  };

  const claim = async (ids?: readonly string[]) => {
    const limit = options.concurrency - running.size;
    starved = limit <= 0;
    if (starved || draining) return;
    const claiming = claimSessions(db, owner, options.leaseMs, ids === undefined ? { limit } : { ids, limit });
    claims.add(claiming);
    try {
      const claimed = await claiming;
      starved = claimed.length === limit;
      claimed.forEach(start);
    } finally {
      claims.delete(claiming);
    }
  };

  // Wake-ups that come while a claim is under way are claimed together by the next one.
  const wake = (sessionId: string) => {
    wanted.add(sessionId);
    if (claiming) return;
    claiming = true;
    void (async () => {
      while (wanted.size > 0) {
        const ids = [...wanted];
        wanted = new Set();
        await claim(ids).catch((error: unknown) => log.warn({ error: errorText(error) }, 'could not claim'));
      }
      claiming = false;
    })();
  };

  // Also what a control message leads to: the row tells whether the interrupt is meant for the turn that runs now.
  const renew = async (ids: readonly string[] = [...running.keys()]) => {
    if (ids.length === 0) return;
    const held = ids.flatMap((id) => running.get(id) ?? []);
    const kept = await renewLeases(db, owner, options.leaseMs, ids);
    const leases = new Map(kept.map((lease) => [lease.sessionId, lease]));
    for (const { claim, abort } of held) {
      const lease = leases.get(claim.sessionId);
      // One that has just ended is gone from the answer as well; nothing hears its signal any longer.
      if (lease?.epoch !== claim.epoch) abort.abort(new LeaseLostError('Claimed elsewhere.'));
      else if (lease.interrupted) abort.abort(new InterruptedError('Interrupted by the caller.'));
    }
  };

  const every = async (periodMs: number, what: string, work: () => Promise<void>) => {
    while (!stop.signal.aborted) {
      await sleep(periodMs * (0.8 + Math.random() * 0.4), undefined, { signal: stop.signal }).catch(() => undefined);
      if (stop.signal.aborted) return;
      await work().catch((error: unknown) => log.warn({ error: errorText(error) }, `could not ${what}`));
    }
  };

  const subscriptions = [
    await onWake(bus, wake),
    await onControl(bus, ({ sessionId, kind }) => {
      if (kind !== 'interrupt') return;
      // The session may be part of a claim that is under way.
      Promise.allSettled(claims)
        .then(() => (running.has(sessionId) ? renew([sessionId]) : undefined))
        .catch((error: unknown) => log.warn({ error: errorText(error) }, 'interrupt delayed'));
    }),
  ];
  deps.sandboxes.onNotice(({ sessionId, text }) => {
    enqueuePrompt(db, sessionId, { kind: 'notice', text, eventId: null })
      .then((queued) => (queued ? sendWake(bus, sessionId) : undefined))
      .catch((error: unknown) => log.warn({ sessionId, error: errorText(error) }, 'a notice was lost'));
  });
  const loops = [
    every(POLL_MS, 'poll for work', () => claim()),
    every(options.leaseMs / 3, 'renew leases', () => renew()),
    every(PARTITIONS_MS, 'prepare partitions', async () => void (await ensureEventPartitions(db, new Date()))),
  ];
  void claim().catch((error: unknown) => log.warn({ error: errorText(error) }, 'could not claim'));

  return {
    async close() {
      subscriptions.forEach((subscription) => subscription.close());
      draining = true;
      await Promise.allSettled(claims);
      const turns = () => Promise.all([...running.values()].map(({ done }) => done));
      const drained = renewWhile(turns(), options, renew);
      await Promise.race([drained, sleep(options.drainMs, undefined, { ref: false })]);
      stop.abort();
      for (const { abort } of running.values()) abort.abort(new Error('The worker is shutting down.'));
      await turns();
      await Promise.all(loops);
    },
  };
}

async function renewWhile(work: Promise<unknown>, options: WorkerOptions, renew: () => Promise<void>): Promise<void> {
  const timer = setInterval(() => void renew().catch(() => undefined), options.leaseMs / 3);
  try {
    await work;
  } finally {
    clearInterval(timer);
  }
}
