import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../../src/errors.ts';
import { hasStatus } from '../../src/kubernetes/client.ts';
import type { Kubernetes } from '../../src/kubernetes/client.ts';
import { buildListPath, buildPath } from '../../src/kubernetes/paths.ts';
import type { Lease } from '../../src/kubernetes/types.ts';
import type { Logger } from '../../src/log.ts';

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

/** A term of leadership. `signal` aborts at the moment the term ends, whatever the network does. */
export type Term = { signal: AbortSignal };

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

  /** Takes or renews it. False when another holds it. */
  const take = async (): Promise<boolean> => {
    const found = await readLease(options);
    const now = new Date().toISOString().replace('Z', '000Z');
    const spec = {
      holderIdentity: options.identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      renewTime: now,
    };
    if (found === undefined) {
      await writeLease(options, undefined, { ...spec, acquireTime: now, leaseTransitions: 0 });
      return true;
    }
    const { metadata, spec: held } = found;
    if (held.holderIdentity === options.identity) {
      await writeLease(options, metadata.resourceVersion, { ...held, ...spec });
      return true;
    }
    if (seen?.version !== metadata.resourceVersion) {
      seen = { version: metadata.resourceVersion, sinceMs: performance.now() };
    }
    const free = (held.holderIdentity ?? '') === '';
    const theirMs = Math.max(durationMs, (held.leaseDurationSeconds ?? 0) * 1000);
    if (!free && performance.now() - seen.sinceMs < theirMs) return false;
    const leaseTransitions = (held.leaseTransitions ?? 0) + 1;
    await writeLease(options, metadata.resourceVersion, { ...spec, acquireTime: now, leaseTransitions });
    return true;
  };

  const tryTake = async (): Promise<boolean> => {
    try {
      return await take();
    } catch (error) {
      if (!hasStatus(error, 409)) log.warn({ error: errorText(error) }, 'the lease cannot be had');
      return false;
    }
  };

  /** One term, from the first renewal at `begunMs` to its loss or the end. */
  const serve = async (begunMs: number): Promise<void> => {
    const term = new AbortController();
    const end = (): void => term.abort(new Error('the lease has run out'));
    let timer = setTimeout(end, Math.max(0, begunMs + deadlineMs - performance.now()));
    const renewing = (async () => {
      while (!term.signal.aborted && !stop.signal.aborted) {
        await rest(retryMs, AbortSignal.any([term.signal, stop.signal]));
        const askedMs = performance.now();
        if (term.signal.aborted || stop.signal.aborted || !(await tryTake())) continue;
        clearTimeout(timer);
        timer = setTimeout(end, Math.max(0, askedMs + deadlineMs - performance.now()));
      }
    })();
    leading = true;
    log.info({ identity: options.identity }, 'leading');
    try {
      const signal = AbortSignal.any([term.signal, stop.signal]);
      await lead({ signal });
    } catch (error) {
      log.error({ error: errorText(error) }, 'the leader stopped');
    } finally {
      leading = false;
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
    await release(options).catch(() => undefined);
  })();

  return {
    isLeading: () => leading,
    async close() {
      stop.abort(new Error('closing'));
      await running;
    },
  };
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

async function readLease({ kubernetes, namespace, name }: LeaseOptions): Promise<Lease | undefined> {
  try {
    return await kubernetes.request<Lease>({ method: 'GET', path: buildPath(namespace, 'leases', name) });
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}

/** Fails with 409 when somebody wrote it since it was read. */
async function writeLease(
  { kubernetes, namespace, name }: LeaseOptions,
  resourceVersion: string | undefined,
  spec: Lease['spec'],
): Promise<void> {
  const metadata = { name, namespace, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
  if (resourceVersion === undefined) {
    await kubernetes.request({ method: 'POST', path: buildListPath(namespace, 'leases'), body });
  } else await kubernetes.request({ method: 'PUT', path: buildPath(namespace, 'leases', name), body });
}

/** So that the next one need not wait. */
async function release(options: LeaseOptions): Promise<void> {
  const found = await readLease(options);
  if (found?.spec.holderIdentity !== options.identity) return;
  await writeLease(options, found.metadata.resourceVersion, { ...found.spec, holderIdentity: '' });
}
