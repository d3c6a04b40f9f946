import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AnyPage } from '../../../../src/platform/contract/common.ts';
import type { Session } from '../../../../src/agents/contract/sessions.ts';
import { writeJournal } from '../../../../src/agents/store/journal.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { buildRawEvent } from '../../../support/events.ts';
import { beginTurn, makeAgent, makeSession, openApi } from '../harness.ts';
import type { Api } from '../harness.ts';

type Listed = {
  data: Session[];
  pagination: AnyPage & { hasMore: boolean; total?: number; nextCursor: string | null };
};

let api: Api;
let agentId: string;
/** by their special property */
const ids: Record<string, string> = {};

const list = async (query: string) => {
  const reply = await api.call<Listed>('GET', `/v1/sessions?agentId=${agentId}&${query}`);
  if (reply.status !== 200) throw new Error(reply.text);
  return reply.body;
};
const names = async (query: string) => {
  const found = (await list(query)).data.map(({ id }) => id);
  return found.map((id) => Object.keys(ids).find((name) => ids[name] === id));
};

async function endTurn(id: string, payload: Record<string, unknown>, cost?: number): Promise<void> {
  const turnId = newId('trn');
  await writeJournal(api.backends.db, [
    {
      sessionId: id,
      epoch: null,
      events: [buildRawEvent({ type: 'session.status_idle', ...payload }, { turnId })],
      session: { status: 'idle', liveTurn: null, ...(cost === undefined ? {} : { usageAdd: { cost_usd: cost } }) },
      turn: { id: turnId, state: 'ended' },
    },
  ]);
}

beforeAll(async () => {
  api = await openApi();
  agentId = await makeAgent(api, { name: 'Grace' });
  for (const name of ['ok', 'failed', 'stopped', 'waiting', 'running']) {
    ids[name] = await makeSession(api, agentId, { subjectId: name, title: `The ${name} 100%` });
  }
  await endTurn(ids['ok']!, { stop_reason: { type: 'end_turn' } }, 0.5);
  const failure = { type: 'error', code: 'internal', message: 'x', retryable: false };
  await endTurn(ids['failed']!, { stop_reason: failure }, 2);
  await endTurn(ids['stopped']!, { stop_reason: { type: 'end_turn' }, interrupted: true });
  await beginTurn(api, ids['waiting']!, 'waiting');
  await beginTurn(api, ids['running']!, 'running');
});
afterAll(() => api.close());

test('a session tells how far its log is, how its turn ended and since when one runs', async () => {
  const get = async (name: string) => (await api.call<Session>('GET', `/v1/sessions/${ids[name]}`)).body;
  expect(await get('ok')).toMatchObject({
    agentName: 'Grace',
    lastSequence: 1,
    lastStopReason: { type: 'end_turn' },
    turnStartedAt: null,
    openActions: 0,
  });
  expect((await get('failed')).lastStopReason).toMatchObject({ type: 'error', code: 'internal' });
  const waiting = await get('waiting');
  expect(waiting).toMatchObject({ lastSequence: 2, openActions: 1, lastStopReason: null });
  expect(Date.parse(waiting.turnStartedAt ?? '')).toBeGreaterThan(0);
});

test('a list is filtered by status, outcome, text, cost, time and silence', async () => {
  expect(await names('')).toEqual(['running', 'waiting', 'stopped', 'failed', 'ok']);
  expect(await names('status=waiting_on_human')).toEqual(['waiting']);
  expect(await names('status=waiting_on_human,running')).toEqual(['running', 'waiting']);
  expect(await names('status=waiting_on_human&status=running')).toEqual(['running', 'waiting']);
  expect(await names('outcome=error')).toEqual(['failed']);
  expect(await names('outcome=interrupted')).toEqual(['stopped']);
  expect(await names('q=THE%20stop')).toEqual(['stopped']);
  expect(await names('q=100%25')).toHaveLength(5);
  expect(await names('q=_00')).toEqual([]);
  expect(await names(`q=${ids['ok']}`)).toEqual(['ok']);
  expect(await names('minCostUsd=0.5')).toEqual(['failed', 'ok']);
  expect(await names('order=cost&limit=2')).toEqual(['failed', 'ok']);
  expect(await names('order=activity')).toEqual(['running', 'waiting', 'stopped', 'failed', 'ok']);
  expect(await names('idleForSeconds=3600')).toEqual([]);
  const { db } = api.backends;
  await db.query(`UPDATE sessions SET last_activity_at = now() - interval '2 hours' WHERE id = ANY($1::text[])`, [
    [ids['running'], ids['ok']],
  ]);
  expect(await names('idleForSeconds=3600')).toEqual(['running']);
  expect(await names('idleForSeconds=3600&status=idle')).toEqual(['ok']);
  const hourAgo = encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString());
  expect(await names(`activeTo=${hourAgo}`)).toEqual(['running', 'ok']);
  expect(await names(`activeFrom=${hourAgo}&createdFrom=${hourAgo}`)).toEqual(['waiting', 'stopped', 'failed']);
  expect(await names(`createdTo=${hourAgo}`)).toEqual([]);
});

test.each(['created', 'activity', 'cost'])(
  'pages by cursor fit together while sessions are added: %s',
  async (order) => {
    const all = (await list(`order=${order}`)).data.map(({ id }) => id);
    const first = await list(`order=${order}&limit=2`);
    expect(first.pagination).toMatchObject({ offset: 0, total: all.length, hasMore: true });
    const seen = first.data.map(({ id }) => id);
    const added = await makeSession(api, agentId, { subjectId: 'new' });
    let cursor = first.pagination.nextCursor;
    while (cursor !== null) {
      const page = await list(`order=${order}&limit=2&cursor=${cursor}`);
      expect(Object.keys(page.pagination).sort()).toEqual(['hasMore', 'limit', 'nextCursor']);
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.pagination.nextCursor;
    }
    expect(seen.filter((id) => id !== added)).toEqual(all);
    await api.call('DELETE', `/v1/sessions/${added}`);
  },
);

test('a bad query is refused', async () => {
  const { nextCursor } = (await list('limit=1')).pagination;
  for (const query of [
    `cursor=${nextCursor}&offset=0`,
    `cursor=${nextCursor}&order=cost`,
    'cursor=x',
    `cursor=${Buffer.from('["cost","NaN","a"]').toString('base64url')}&order=cost`,
    `cursor=${Buffer.from('["activity","1e9","a"]').toString('base64url')}&order=activity`,
    'status=asleep',
    'createdFrom=yesterday',
    'createdFrom=0000-01-01T00:00:00Z',
    'minCostUsd=x',
    'order=size',
  ]) {
    const reply = await api.call('GET', `/v1/sessions?${query}`);
    expect([query, reply.status, reply.body.error]).toEqual([query, 400, 'validation_error']);
  }
});
