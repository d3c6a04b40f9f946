import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEMO_DAYS, buildDemoUsage } from '../../../src/agents/api/demo/demo-usage.ts';
import { reportUsage } from '../../../src/platform/store/usage-report.ts';
import type { UsageColumn } from '../../../src/platform/store/usage-report.ts';
import { makeAgent, makeSession, openApi } from './harness.ts';
import type { Api } from './harness.ts';

type Made = { records: number; days: number; costUsd: number };

const DAY_MS = 86_400_000;
let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

test('a month is made up for each subject and for the key, the same for the same day, and never for the future', () => {
  const now = new Date('2026-11-23T10:00:00Z');
  const subjects = [
    { agentId: 'agt_1', subjectId: 'ada' },
    { agentId: 'agt_2', subjectId: 'bob' },
  ];
  const records = buildDemoUsage(subjects, 'key_1', now);
  expect(buildDemoUsage(subjects, 'key_1', now)).toEqual(records);
  expect(new Set(records.map(({ subjectId }) => subjectId))).toEqual(new Set(['ada', 'bob', '']));
  const days = new Set(records.map(({ at }) => at.slice(0, 10)));
  expect(days.size).toBe(DEMO_DAYS);
  expect([...days].sort().at(-1)).toBe('2026-11-22');
  expect(records.every(({ name, kind }) => kind === 'tool' || name.startsWith('demo/'))).toBe(true);
});

test('it is in the ledger under a mark of its own, once unless forced', async () => {
  const agentId = await makeAgent(api);
  await makeSession(api, agentId, { subjectId: 'ada' });
  const make = (body: object) => api.call<Made>('POST', '/v1/demo-usage', { body });
  const first = await make({});
  expect([first.status, first.body.days]).toEqual([201, DEMO_DAYS]);
  const { body: caller } = await api.call<{ organizationId: string }>('GET', '/v1/me');
  const report = (columns: UsageColumn[], metadata: string | null) =>
    reportUsage(api.backends.db, {
      organizationId: caller.organizationId,
      from: new Date(Date.now() - (DEMO_DAYS + 2) * DAY_MS),
      to: new Date(Date.now() + DAY_MS),
      columns,
      metadata,
      source: null,
      filter: {},
      order: 'cost',
      limit: 10,
      offset: 0,
    });
  const marked = await report([], 'demo');
  expect(marked.items.map(({ metadata }) => metadata)).toEqual(['true']);
  expect(marked.totals.costUsd).toBeCloseTo(first.body.costUsd, 6);
  const bySubject = await report(['subject'], null);
  expect(bySubject.items.map(({ subjectId }) => subjectId)).toContain('ada');

  expect((await make({})).status).toBe(409);
  expect((await make({ force: true })).status).toBe(201);
  expect((await report([], 'demo')).totals.costUsd).toBeCloseTo(first.body.costUsd * 2, 6);
});

test('a key without the scope owner cannot write to the ledger', async () => {
  const body = { name: 'writer', scopes: ['agents:write'] };
  const { key } = (await api.call<{ key: string }>('POST', '/v1/api-keys', { body })).body;
  expect((await api.call('POST', '/v1/demo-usage', { body: {}, key })).status).toBe(403);
});
