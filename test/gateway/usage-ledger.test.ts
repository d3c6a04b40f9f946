import { afterAll, beforeAll, expect, it } from 'vitest';
import { rollUpUsage } from '../../src/platform/store/usage.ts';
import { classifyLatency } from '../../src/platform/store/usage.ts';
import { startGateway } from './harness.ts';
import type { TestGateway } from './harness.ts';

type Item = Record<string, string | number | null>;
type Report = {
  data: Item[];
  totals: Item;
  timeZone: string;
  pagination: { hasMore: boolean; nextCursor: string | null };
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({});
  const { db } = gateway.ports;
  const record = (fields: Record<string, unknown>) =>
    db.query(
      `INSERT INTO usage_records (organization_id, occurred_at, source, kind, name, agent_id, subject_id, session_id,
         metadata, calls, input_tokens, output_tokens, tool_calls, sandbox_ms, cost_usd, latency_ms)
       SELECT o.id, $1::timestamptz, 'agents', $2, $3, 'agt_1', $4, $5, $6::jsonb, $7::int, $7::int * 100, $7::int * 10,
         1 - $7::int, (1 - $7::int) * 500, $8::float8, $9::int FROM organizations o WHERE o.name = 'default'`,
      [
        fields['at'],
        fields['kind'] ?? 'model',
        fields['name'] ?? 'acme/small',
        fields['subject'],
        `ses_${String(fields['subject'])}`,
        JSON.stringify({ team: fields['team'] }),
        fields['kind'] === 'tool' ? 0 : 1,
        fields['cost'] ?? 0,
        fields['latency'] ?? 100,
      ],
    );
  await record({ at: '2026-01-31T09:10:00Z', subject: 'anna', team: 'red', cost: 1, latency: 100 });
  await record({ at: '2026-01-31T09:50:00Z', subject: 'bob', team: 'blue', cost: 2, latency: 3000 });
  await record({ at: '2026-01-31T10:00:00Z', subject: 'bob', team: 'blue', cost: 4, name: 'acme/big', latency: 1000 });
  await record({ at: '2026-01-31T10:00:01Z', subject: '=cmd', team: 'blue', kind: 'tool', name: 'terminal' });
});
afterAll(() => gateway.close());

const RANGE = 'source=agents&from=2026-01-31&to=2026-01-31';
const report = async (query: string) => (await (await gateway.get(`/v1/usage?${query}`)).json()) as Report;
const sums = async (group: string, field: string, more = '') => {
  const { data } = await report(`${RANGE}&groupBy=${group}${more}`);
  return Object.fromEntries(data.map((item) => [String(item[field]), item['costUsd']]));
};

it.each([
  ['before', []],
  ['after', [3, 1, 0]],
])('is grouped and filtered alike %s the ledger is rolled up', async (_moment, moved) => {
  const { db } = gateway.ports;
  for (const count of moved) expect(await rollUpUsage(db, 3)).toBe(count);
  expect(await sums('agent', 'agentId')).toEqual({ agt_1: 7 });
  expect(await sums('subject', 'subjectId')).toEqual({ anna: 1, bob: 6, '=cmd': 0 });
  expect(await sums('session', 'sessionId')).toEqual({ ses_anna: 1, ses_bob: 6, 'ses_=cmd': 0 });
  expect(await sums('metadata.team', 'metadata')).toEqual({ red: 1, blue: 6 });
  expect(await sums('model', 'model')).toEqual({ 'acme/small': 3, 'acme/big': 4, null: 0 });
  expect(await sums('product', 'product')).toEqual({ agents: 7 });
  expect(await sums('hour', 'hour')).toEqual({ '2026-01-31T09:00:00.000Z': 3, '2026-01-31T10:00:00.000Z': 4 });
  expect(await sums('model', 'model', '&filter=subject:bob,agent:agt_1')).toEqual({ 'acme/small': 2, 'acme/big': 4 });
  expect(await sums('model', 'model', '&filter=session:ses_anna')).toEqual({ 'acme/small': 1 });
  const { totals, timeZone } = await report(`${RANGE}&groupBy=subject&limit=1`);
  expect(timeZone).toBe('UTC');
  expect(totals).toMatchObject({ requests: 3, inputTokens: 300, toolCalls: 1, sandboxSeconds: 0.5, costUsd: 7 });
  expect(totals['p95LatencyMs']).toBeGreaterThan(2048);
  expect(totals['p50LatencyMs']).toBeGreaterThan(512);
  expect(totals['p50LatencyMs']).toBeLessThan(2048);
});

it('sums up whole days and the hours before and after them alike', async () => {
  const { db } = gateway.ports;
  const times = ['2026-02-01T22:10:00Z', '2026-02-02T00:00:00Z', '2026-02-03T23:59:59Z', '2026-02-04T01:00:00Z'];
  for (const [index, at] of times.entries()) {
    await db.query(
      `INSERT INTO usage_records (organization_id, occurred_at, source, kind, name, calls, cost_usd)
       SELECT id, $1::timestamptz, 'agents', 'model', 'acme/small', 1, $2::float8 FROM organizations WHERE name = 'default'`,
      [at, 2 ** index],
    );
    expect(await rollUpUsage(db, 10)).toBe(1);
  }
  const range = (from: string, to: string) => `source=agents&groupBy=model&from=${from}&to=${to}`;
  const cost = async (from: string, to: string) => (await report(range(from, to))).totals['costUsd'];
  expect(await cost('2026-02-01T22:00:00Z', '2026-02-04T02:00:00Z')).toBe(15);
  expect(await cost('2026-02-01T23:00:00Z', '2026-02-04T01:00:00Z')).toBe(6);
  expect(await cost('2026-02-02', '2026-02-03')).toBe(6);
  expect(await cost('2026-02-03T23:00:00Z', '2026-02-04T02:00:00Z')).toBe(12);
  const days = await report('source=agents&groupBy=day&from=2026-02-01&to=2026-02-04');
  expect(days.data.map((item) => [item['day'], item['costUsd']])).toEqual([
    ['2026-02-04', 8],
    ['2026-02-03', 4],
    ['2026-02-02', 2],
    ['2026-02-01', 1],
  ]);
});

it('covers part of a day, is ordered by cost and comes in pages', async () => {
  const morning = 'source=agents&from=2026-01-31T09:00:00Z&to=2026-01-31T10:00:00Z&groupBy=day';
  expect((await report(morning)).data).toMatchObject([{ day: '2026-01-31', costUsd: 3 }]);
  const query = `${RANGE}&groupBy=subject&order=cost&limit=2`;
  const first = await report(query);
  expect(first.data.map((item) => item['subjectId'])).toEqual(['bob', 'anna']);
  const rest = await report(`${query}&cursor=${first.pagination.nextCursor}`);
  expect(rest.data.map((item) => item['subjectId'])).toEqual(['=cmd']);
  expect([first.pagination.hasMore, rest.pagination]).toEqual([true, { limit: 2, hasMore: false, nextCursor: null }]);
  expect(await report('groupBy=subject')).toMatchObject({ data: [] });
});

it('comes as CSV when asked for, without formulas', async () => {
  const answer = await gateway.get(`/v1/usage?${RANGE}&groupBy=subject`, {
    'x-api-key': gateway.key,
    accept: 'text/csv',
  });
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const [head, ...lines] = (await answer.text()).trimEnd().split('\r\n');
  expect(head).toMatch(/^model,keyId,day,hour,agentId,subjectId,/);
  expect(lines).toHaveLength(3);
  expect(lines.some((line) => line.includes(",'=cmd,"))).toBe(true);
});

it.each(['source=x', 'order=x', 'limit=0', 'limit=10001', 'cursor=x', 'filter=x:y', 'groupBy=metadata.'])(
  'refuses %s',
  async (query) => {
    expect((await gateway.get(`/v1/usage?${query}`)).status).toBe(400);
  },
);

it('sorts durations into classes that double', () => {
  expect([0, 63, 64, 127, 128, 5_000_000].map(classifyLatency)).toEqual([0, 0, 1, 1, 2, 15]);
});
