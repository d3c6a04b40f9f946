import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../../src/platform/errors.ts';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';
import type { Kubernetes } from '../../src/platform/kubernetes/client.ts';
import { runWithin } from '../../src/platform/kubernetes/deadline.ts';
import { buildListPath, buildPath } from '../../src/platform/kubernetes/paths.ts';
import type { Lease } from '../../src/platform/kubernetes/types.ts';
import type { Logger } from '../../src/platform/log.ts';
import { omitUndefined } from '../../src/platform/records.ts';

export type LeaseOptions = {
  kubernetes: Kubernetes;
  namespace: string;
  name: string;
  /** who holds it; no two processes ever have the same */
  identity: string;
  log: Logger;
  /** how long others wait after the last renewal they saw; default 15 s */
  durationMs?: number;
  /** how long after its own last renewal the holder still writes; default 10 s */
  deadlineMs?: number;
  /** between renewals and between tries; default 2 s */
  retryMs?: number;
};

/** A term of leadership. */
export type Term = {
  /** aborts when the term ends, whatever the network does */
  signal: AbortSignal;
  /**
   * Throws from the very moment the term is over. To be asked before each write: where the event loop was held up, the
   * signal comes late, while the clock does not.
   */
  requireHeld(): void;
};

/**
 * Leads while the lease is held: `lead` is begun with each term and has to return soon after its signal aborts. The holder
 * stops writing 10 s after its last renewal by its own clock, and nobody takes the lease before 15 s have passed since the
 * last renewal that they saw, by theirs; so no two lead at once, though clocks differ.
 */
export function startLeadership(
  options: LeaseOptions,
  lead: (term: Term) => Promise<void>,
): { isLeading: () => boolean; close(): Promise<void> } {
  const { durationMs = 15_000, deadlineMs = 10_000, retryMs = 2000, log } = options;
  const stop = new AbortController();
  let leading = false;
  let seen: { version: string; sinceMs: number } | undefined;
  /** ends the term at once when the lease is seen in other hands */
  let onLost: (() => void) | undefined;
  /** as it was written last, so that a renewal is one request */
  let own: Lease | undefined;

  /** Takes or renews it. False when another holds it. */
  const take = async (call: LeaseCall): Promise<boolean> => {
    const found = own ?? (await readLease(call));
    const now = new Date().toISOString().replace('Z', '000Z');
    const spec = {
      holderIdentity: options.identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      renewTime: now,
    };
    if (found === undefined) {
      own = await writeLease(call, undefined, { ...spec, acquireTime: now, leaseTransitions: 0 });
      return true;
    }
    const { metadata, spec: held } = found;
    if (held.holderIdentity === options.identity) {
      own = await writeLease(call, metadata.resourceVersion, { ...held, ...spec });
      return true;
    }
    if (seen?.version !== metadata.resourceVersion) {
      seen = { version: metadata.resourceVersion, sinceMs: performance.now() };
    }
    const free = (held.holderIdentity ?? '') === '';
    if (!free) onLost?.();
    const theirMs = Math.max(durationMs, (held.leaseDurationSeconds ?? 0) * 1000);
    if (!free && performance.now() - seen.sinceMs < theirMs) return false;
    const leaseTransitions = (held.leaseTransitions ?? 0) + 1;
    own = await writeLease(call, metadata.resourceVersion, { ...spec, acquireTime: now, leaseTransitions });
    return true;
  };

  const tryTake = async (): Promise<boolean> => {
    try {
      // Two tries fit into a term, each on a connection of its own: one that hangs takes no term with it.
      return await runWithin(deadlineMs / 2, undefined, (signal) => take({ ...options, signal }));
    } catch (error) {
      own = undefined;
      if (!hasStatus(error, 409)) log.warn({ error: errorText(error) }, 'the lease cannot be had');
      return false;
    }
  };

  /** One term, from the first renewal at `begunMs` to its loss or the end. */
  const serve = async (begunMs: number): Promise<void> => {
    const term = new AbortController();
    const signal = AbortSignal.any([term.signal, stop.signal]);
    const end = (): void => term.abort(new Error('the lease has run out'));
    let heldUntilMs = begunMs + deadlineMs;
    let timer = setTimeout(end, Math.max(0, heldUntilMs - performance.now()));
    const requireHeld = (): void => {
      if (performance.now() >= heldUntilMs) end();
      signal.throwIfAborted();
    };
    const renewing = (async () => {
      while (!signal.aborted) {
        await rest(retryMs, signal);
        const askedMs = performance.now();
        if (signal.aborted || !(await tryTake())) continue;
        clearTimeout(timer);
        heldUntilMs = askedMs + deadlineMs;
        timer = setTimeout(end, Math.max(0, heldUntilMs - performance.now()));
      }
    })();
    onLost = end;
    leading = true;
    log.info({ identity: options.identity }, 'leading');
    try {
      await lead({ signal, requireHeld });
    } catch (error) {
      log.error({ error: errorText(error) }, 'the leader stopped');
    } finally {
      leading = false;
      onLost = undefined;
      clearTimeout(timer);
      end();
      await renewing;
    }
  };

  const running = (async () => {
    while (!stop.signal.aborted) {
      const askedMs = performance.now();
      if (await tryTake()) await serve(askedMs);
      else await rest(retryMs * (0.8 + Math.random() * 0.4), stop.signal);
    }
    const release = (signal: AbortSignal) => releaseLease({ ...options, signal });
    await runWithin(deadlineMs / 2, undefined, release).catch(() => undefined);
  })();

  return {
    isLeading: () => leading,
    async close() {
      stop.abort(new Error('closing'));
      await running;
    },
  };
}

type LeaseCall = LeaseOptions & { signal: AbortSignal };

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

async function readLease({ kubernetes, namespace, name, signal }: LeaseCall): Promise<Lease | undefined> {
  try {
    return await kubernetes.request<Lease>({ method: 'GET', path: buildPath(namespace, 'leases', name), signal });
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}

/** Fails with 409 when somebody wrote it since it was read. */
async function writeLease(
  { kubernetes, namespace, name, signal }: LeaseCall,
  resourceVersion: string | undefined,
  spec: Lease['spec'],
): Promise<Lease> {
  const metadata = { name, namespace, ...omitUndefined({ resourceVersion }) };
  const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
  return resourceVersion === undefined
    ? kubernetes.request({ method: 'POST', path: buildListPath(namespace, 'leases'), body, signal })
    : kubernetes.request({ method: 'PUT', path: buildPath(namespace, 'leases', name), body, signal });
}

/** So that the next one need not wait. */
async function releaseLease(call: LeaseCall): Promise<void> {
  const found = await readLease(call);
  if (found?.spec.holderIdentity !== call.identity) return;
  await writeLease(call, found.metadata.resourceVersion, { ...found.spec, holderIdentity: '' });
}
