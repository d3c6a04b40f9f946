import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startHealth } from '../../operator/health.ts';
import { openMetrics } from '../../operator/runtime/metrics.ts';
import { buildGateway } from '../../src/gateway/server.ts';
import { openInference } from '../../src/inference/inference.ts';
import { createKey } from '../../src/platform/store/keys.ts';
import type { Scope } from '../../src/platform/contract/keys.ts';
import { openEgress } from '../../src/platform/egress/egress.ts';
import { openRegistry } from '../../src/platform/http/metrics.ts';
import { openFleet } from '../../src/login/browser/fleet.ts';
import { openLoginMetrics } from '../../src/login/metrics.ts';
import { openRecordMetrics } from '../../src/agents/worker/record-metrics.ts';
import { openWorkerMetrics } from '../../src/agents/worker/metrics.ts';
import { openTestBackends } from '../support/backends.ts';
import type { TestBackends } from '../support/backends.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

type Rule = { alert: string; expr: string; annotations: { runbook: string } };
type Panel = { title: string; targets: { expr: string }[] };
const { groups } = parse(read('charts/capstan/files/monitoring/alerts.yaml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read('charts/capstan/files/monitoring/dashboard.json')) as { panels: Panel[] };

const expressions: [string, string][] = [
  ...rules.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...dashboard.panels.flatMap(({ title, targets }) =>
    // Variables that Grafana substitutes.
    targets.map(({ expr }): [string, string] => [title, expr.replaceAll('$__rate_interval', '5m')]),
  ),
];

type Selector = { metric: string; labels: string[] };

/** The metrics in an expression, parsed by the grammar of Prometheus. */
function readSelectors(expression: string): { selectors: Selector[]; grouped: string[]; faults: string[] } {
  const selectors: Selector[] = [];
  const grouped: string[] = [];
  const faults: string[] = [];
  parser.parse(expression).iterate({
    enter(node) {
      const text = expression.slice(node.from, node.to);
      if (node.type.isError) faults.push(`at ${node.from} of ${expression}`);
      if (node.name === 'VectorSelector') selectors.push({ metric: '', labels: [] });
      const last = selectors.at(-1);
      if (node.name === 'Identifier' && last !== undefined && last.metric === '') last.metric = text;
      if (node.name === 'LabelName' && node.node.parent?.name === 'GroupingLabels') grouped.push(text);
      if (node.name === 'LabelName' && node.node.parent?.name.includes('Matcher') === true) last?.labels.push(text);
    },
  });
  return { selectors, grouped, faults };
}

/** Labels that Prometheus itself adds to targets of a ServiceMonitor. */
const FROM_TARGET = ['namespace', 'pod', 'container', 'job', 'service'];

describe('alerts and dashboard', () => {
  let backends: TestBackends;
  const served = new Map<string, Set<string>>();

  const take = (text: string): void => {
    for (const line of text.split('\n')) {
      const [, name, labels = ''] = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? /i.exec(line) ?? [];
      if (name === undefined) continue;
      const known = served.get(name) ?? new Set();
      for (const [, label = ''] of labels.matchAll(/([a-z_]+)="/g)) known.add(label);
      served.set(name, known);
    }
  };

  beforeAll(async () => {
    backends = await openTestBackends();
    const registry = openRegistry();
    const log = pino({ level: 'silent' });
    openWorkerMetrics(registry, { db: backends.db, log, countRunning: () => 0 });
    openRecordMetrics(registry, { db: backends.db, log });
    const egress = openEgress({ allow: [] });
    // Without a browser, calls that need one end as `capacity`.
    const browsers = { program: undefined, noSandbox: true, maxJobs: 1, warm: false };
    const fleet = openFleet({ egress, log }, browsers);
    const { measure, countModelCall } = openLoginMetrics(registry, fleet);
    countModelCall('picked', { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 });
    const request = { organizationId: 'org', signal: AbortSignal.timeout(60_000) };
    await measure('login', async () => {
      await fleet.open(request);
      return { status: 200, body: {} };
    }).catch(() => undefined);
    await measure('login', async () => ({ status: 200, body: {}, headers: { 'x-session-cache': 'miss' } }));
    const inference = openInference({ providers: {}, models: {}, log });
    const gateway = buildGateway({ ...backends, registry, inference, tokensPerDay: undefined });
    // A metric with labels is exported only after its first event.
    const owner = { name: 'test', organization: 'default', scopes: ['inference'] as Scope[], requestsPerMinute: 100 };
    const { key } = await createKey(backends.db, owner);
    const answer = await gateway.inject({
      method: 'POST',
      url: '/v1/chat/completions',
      headers: { authorization: `Bearer ${key}` },
      payload: { model: 'script/demo', stream: true, messages: [{ role: 'user', content: 'hello' }] },
    });
    if (answer.statusCode !== 200) throw new Error(answer.body);
    await gateway.inject('/livez');
    take((await gateway.inject('/metrics')).body);
    await gateway.close();
    await inference.close();
    await fleet.close();
    await egress.close();
    const metrics = openMetrics();
    const ready = { type: 'Ready', status: 'True', message: '', lastTransitionTime: '' } as const;
    const session = { status: { phase: 'Running' as const, conditions: [{ ...ready, reason: 'PodReady' }] } };
    const metadata = { name: 'vol-1', namespace: 'n', uid: 'u', resourceVersion: '1' };
    const volume = { metadata, status: { phase: 'Ready' as const, conditions: [{ ...ready, reason: 'ClaimBound' }] } };
    metrics.watchResources(() => ({
      sessions: [session],
      volumes: [volume],
      classes: [{ metadata, status: { warm: { pods: 2, ready: 1, selector: '' } } }],
    }));
    metrics.watchQueues(() => ({ sessions: 0 }));
    metrics.onReconcile('sessions', undefined, 1);
    metrics.onWrite('create', 'pods');
    metrics.onSessionReady(1);
    metrics.onWarmTake('gpu', 'warm');
    const health = await startHealth({ host: '127.0.0.1', port: 0 }, { metrics, isReady: async () => true });
    take(await (await fetch(`${health.address}/metrics`)).text());
    await health.close();
  });
  afterAll(() => backends.close());

  test('are many', () => {
    expect(rules.length).toBeGreaterThan(10);
    expect(expressions.length).toBeGreaterThan(35);
  });

  test.each(expressions)('%s asks for what is served: %s', (_, expression) => {
    const { selectors, grouped, faults } = readSelectors(expression);
    expect(faults).toEqual([]);
    expect(selectors.length).toBeGreaterThan(0);
    for (const { metric, labels } of selectors) {
      expect([...served.keys()]).toContain(metric);
      const known = [...(served.get(metric) ?? []), ...FROM_TARGET];
      expect([...labels, ...grouped].filter((label) => !known.includes(label))).toEqual([]);
    }
  });

  test.each(rules)('what to do about $alert is written', ({ alert, annotations }) => {
    expect(annotations.runbook).toBe(`docs/operations.md#${alert.toLowerCase()}`);
    expect(read('docs/operations.md')).toContain(`\n### ${alert}\n`);
  });
});

test('a name that nothing serves, and a broken expression, are noticed', () => {
  const { selectors, grouped } = readSelectors('sum by (route) (rate(no_such_metric{status="5"}[5m]))');
  expect([selectors, grouped]).toEqual([[{ metric: 'no_such_metric', labels: ['status'] }], ['route']]);
  expect(readSelectors('sum(rate(x[5m])').faults).not.toEqual([]);
});
