import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OwnWrites } from '../../operator/runtime/own-writes.ts';
import { buildExpectations } from '../../operator/runtime/expectations.ts';
import { startLeaderElection } from '../../operator/runtime/leader-election.ts';
import type { Leadership } from '../../operator/runtime/leader-election.ts';
import { waitAborted } from '../../operator/runtime/manager.ts';
import { buildWriter } from '../../operator/runtime/writer.ts';
import type { Call, Kubernetes } from '../../src/platform/kubernetes/client.ts';
import { buildPath } from '../../src/platform/kubernetes/paths.ts';
import { openLog } from '../../src/platform/log.ts';
import { findCluster, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { buildMortal } from '../support/cluster/mortal.ts';

const found = await findCluster();
const log = openLog({ level: 'silent', pretty: false });

describe.skipIf(found === undefined)('the lease of the operator', () => {
  let cluster: Cluster;
  beforeAll(() => {
    cluster = found as Cluster;
  });
  afterAll(() => cluster?.kubernetes.close());

  /** A candidate, and its terms by the clock of this machine; the end is Infinity while it leads. */
  const stand = (
    name: string,
    times: { durationMs: number; deadlineMs: number },
    real = cluster.kubernetes,
    serve: (leadership: Leadership) => Promise<void> = async () => undefined,
  ) => {
    const mortal = buildMortal(real, { atWrite: Infinity, before: false });
    const terms: { from: number; to: number }[] = [];
    const identity = `${name}-${terms.length}-${Math.random()}`;
    const { kubernetes } = mortal;
    const options = { kubernetes, namespace: cluster.namespace, name, identity, log, retryMs: 100, ...times };
    const election = startLeaderElection(options, async (leadership) => {
      const term = { from: performance.now(), to: Infinity };
      terms.push(term);
      await serve(leadership);
      await waitAborted(leadership.signal);
      term.to = performance.now();
    });
    return { ...election, terms, mortal };
  };

  test('one leads, and the next one at once when it steps down', async () => {
    const times = { durationMs: 60_000, deadlineMs: 40_000 };
    const first = stand('handed-over', times);
    await waitFor('a leader', () => first.isLeading());
    const second = stand('handed-over', times);
    const third = stand('handed-over', times);
    await first.close();
    // If the lease had not been released, they would wait a minute.
    await waitFor('another leader', () => second.isLeading() || third.isLeading(), 40_000);
    expect(second.isLeading() && third.isLeading()).toBe(false);
    await Promise.all([second.close(), third.close()]);
  });

  test('a leader that is cut off has ended its term before another begins one', async () => {
    const times = { durationMs: 4000, deadlineMs: 2000 };
    const first = stand('cut-off', times);
    await waitFor('a leader', () => first.isLeading());
    const second = stand('cut-off', times);
    first.mortal.kill();
    await waitFor('another leader', () => second.isLeading());
    expect(first.isLeading()).toBe(false);
    expect(first.terms.at(-1)?.to).toBeLessThan(second.terms[0]?.from ?? 0);
    await Promise.all([first.close(), second.close()]);
  });

  test('a leader whose event loop was held up past its deadline writes nothing, though no timer has run yet', async () => {
    const { kubernetes, namespace } = cluster;
    const told = Promise.withResolvers<unknown>();
    const times = { durationMs: 60_000, deadlineMs: 1000 };
    const candidate = stand('held-up', times, kubernetes, async (leadership) => {
      const expectations = buildExpectations(
        () => undefined,
        () => undefined,
      );
      const ownWrites = new OwnWrites(
        () => undefined,
        () => undefined,
      );
      const writer = buildWriter({ kubernetes, namespace, leadership, expectations, ownWrites, log });
      const untilMs = performance.now() + times.deadlineMs;
      while (performance.now() < untilMs);
      const wasAborted = leadership.signal.aborted;
      const metadata = { name: 'held-up', namespace };
      const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
      const body = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: claim };
      const outcome = await writer.create('persistentvolumeclaims', body).catch(String);
      told.resolve({ wasAborted, outcome });
    });
    expect(await told.promise).toEqual({ wasAborted: false, outcome: 'Error: the lease has expired' });
    const path = buildPath(namespace, 'persistentvolumeclaims', 'held-up');
    await expect(kubernetes.request({ method: 'GET', path })).rejects.toMatchObject({ status: 404 });
    await candidate.close();
  });

  test('a renewal that gets no answer is tried again in time', async () => {
    let hung = 0;
    let renewed = 0;
    const hanging: Kubernetes = {
      ...cluster.kubernetes,
      async request<T>(call: Call): Promise<T> {
        const isRenewal = call.method === 'PUT';
        if (isRenewal && hung === 0) {
          hung += 1;
          await waitAborted(call.signal as AbortSignal);
        }
        const answer = await cluster.kubernetes.request<T>(call);
        if (isRenewal) renewed += 1;
        return answer;
      },
    };
    const candidate = stand('unanswered', { durationMs: 60_000, deadlineMs: 10_000 }, hanging);
    await waitFor('a renewal after the one that hung', () => renewed > 2);
    expect(hung).toBe(1);
    expect(candidate.terms).toMatchObject([{ to: Infinity }]);
    await candidate.close();
  });

  test('a leader that sees the lease in other hands ends its term at once', async () => {
    const { kubernetes, namespace } = cluster;
    const candidate = stand('taken', { durationMs: 240_000, deadlineMs: 200_000 });
    await waitFor('a leader', () => candidate.isLeading());
    const path = buildPath(namespace, 'leases', 'taken');
    await kubernetes.request({ method: 'PATCH', path, body: { spec: { holderIdentity: 'somebody' } } });
    await waitFor('it has seen it', () => !candidate.isLeading(), 100_000);
    expect(candidate.terms).toHaveLength(1);
    await candidate.close();
  });

  test('the role operator runs as a process, and hands over on SIGTERM', async () => {
    const child = spawn(process.execPath, ['src/main.ts', 'operator'], {
      env: {
        PATH: process.env.PATH,
        KUBECONFIG: cluster.kubeconfig,
        CAPSTAN_KUBERNETES_NAMESPACE: cluster.namespace,
        CAPSTAN_SANDBOX_IMAGE: 'capstan/sandbox:test',
        CAPSTAN_PORT: '0',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    try {
      await waitFor('it leads', () => output.includes('"msg":"acquired the lease; leading"'));
      const address = /Capstan listens on (\S+)/.exec(output)?.[1];
      expect(await (await fetch(`${address}/readyz`)).json()).toEqual({ kubernetes: 'ok' });
      child.kill('SIGTERM');
      expect(await exited).toBe(0);
      const lease = await cluster.kubernetes.request<{ spec: { holderIdentity?: string } }>({
        method: 'GET',
        path: `/apis/coordination.k8s.io/v1/namespaces/${cluster.namespace}/leases/capstan-operator`,
      });
      expect(lease.spec.holderIdentity ?? '').toBe('');
    } finally {
      child.kill('SIGKILL');
    }
  });
});
