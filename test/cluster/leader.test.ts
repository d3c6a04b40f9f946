import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLeadership } from '../../operator/runtime/lease.ts';
import { openLog } from '../../src/log.ts';
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

  /** A candidate, and the terms that it served by the clock of this machine; an end is Infinity while it leads. */
  const stand = (name: string, times: { durationMs: number; deadlineMs: number }) => {
    const mortal = buildMortal(cluster.kubernetes, { atWrite: Infinity, before: false });
    const terms: { from: number; to: number }[] = [];
    const identity = `${name}-${terms.length}-${Math.random()}`;
    const { kubernetes } = mortal;
    const options = { kubernetes, namespace: cluster.namespace, name, identity, log, retryMs: 100, ...times };
    const leadership = startLeadership(options, async ({ signal }) => {
      const term = { from: performance.now(), to: Infinity };
      terms.push(term);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      term.to = performance.now();
    });
    return { ...leadership, terms, mortal };
  };

  test('one leads, and the next one at once when it steps down', async () => {
    const times = { durationMs: 60_000, deadlineMs: 40_000 };
    const first = stand('handed-over', times);
    await waitFor('a leader', () => first.isLeading());
    const second = stand('handed-over', times);
    const third = stand('handed-over', times);
    await first.close();
    // Had the lease not been released, they would wait a minute.
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
      await waitFor('it leads', () => output.includes('"msg":"leading"'));
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
