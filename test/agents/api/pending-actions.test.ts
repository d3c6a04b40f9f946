import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OpenAction } from '../../../src/agents/contract/pending-actions.ts';
import { writeJournal } from '../../../src/agents/store/journal.ts';
import { newId } from '../../../src/platform/ids.ts';
import { buildRawEvent } from '../../support/events.ts';
import { makeAgent, makeSession, openApi } from './harness.ts';
import type { Api } from './harness.ts';

type Listed = { data: OpenAction[]; pagination: { nextCursor: string | null } };

let api: Api;
let agentId: string;
beforeAll(async () => {
  api = await openApi();
  agentId = await makeAgent(api, { name: 'Grace' });
});
afterAll(() => api.close());

const list = async (query = '', key = api.key) => {
  const reply = await api.call<Listed>('GET', `/v1/pending-actions?${query}`, { key });
  if (reply.status !== 200) throw new Error(reply.text);
  return reply.body;
};

/** Makes a session wait, as a worker does. */
async function ask(sessionId: string, asked: Record<string, unknown> & { type: string }): Promise<string> {
  const [turnId, id] = [newId('trn'), newId('evt')];
  await writeJournal(api.backends.db, [
    {
      sessionId,
      epoch: null,
      events: [
        { id: newId('evt'), turnId, status: 'complete', payload: { type: 'session.status_running' } },
        buildRawEvent({ id, tool_use_id: 'evt_use', ...asked }, { id, turnId }),
      ],
      session: { status: 'waiting_on_human', liveTurn: turnId },
      turn: { id: turnId, state: 'waiting', step: { number: 1, calls: [] } },
      asks: [
        {
          id,
          turnId,
          type: asked.type as 'agent.approval_request',
          toolUseId: 'evt_use',
          toolName: 'terminal',
          deadline: null,
        },
      ],
    },
  ]);
  return id;
}

const approval = (input: unknown) => ({
  type: 'agent.approval_request',
  kind: 'builtin',
  tool_name: 'terminal',
  toolset: 'terminal',
  mcp_server_name: null,
  input,
  scopes: ['once', 'session', 'always'],
});

test('what waits in all sessions is listed, oldest first, until it is answered', async () => {
  const first = await makeSession(api, agentId, { subjectId: 'anna', title: 'Trip' });
  const second = await makeSession(api, agentId, { subjectId: 'bob' });
  const approvalId = await ask(first, approval({ command: 'ls' }));
  const question = { type: 'agent.clarify_request', request_id: 'evt_q', question: 'Which?', choices: ['a', 'b'] };
  const clarifyId = await ask(second, question);
  const all = await list(`agentId=${agentId}`);
  expect(all.data.map(({ id }) => id)).toEqual([approvalId, clarifyId]);
  expect(all.data[0]).toMatchObject({
    object: 'pending_action',
    type: 'approval',
    state: 'pending',
    sessionId: first,
    sessionTitle: 'Trip',
    agentId,
    agentName: 'Grace',
    subjectId: 'anna',
    sequence: 2,
    toolName: 'terminal',
    toolset: 'terminal',
    input: { command: 'ls' },
    inputTruncated: false,
    scopes: ['once', 'session', 'always'],
    question: null,
    answeredBy: null,
  });
  expect(all.data[1]).toMatchObject({ type: 'clarify', question: 'Which?', choices: ['a', 'b'], scopes: [] });
  expect((await list('type=clarify')).data.map(({ id }) => id)).toEqual([clarifyId]);
  expect((await list('type=clarify,approval&subjectId=anna')).data.map(({ id }) => id)).toEqual([approvalId]);
  expect((await list(`sessionId=${second}`)).data.map(({ id }) => id)).toEqual([clarifyId]);
  expect((await list('order=newest')).data.map(({ id }) => id)).toEqual([clarifyId, approvalId]);
  expect((await list('', api.otherKey)).data).toEqual([]);

  const page = await list('limit=1');
  const rest = await list(`limit=1&cursor=${page.pagination.nextCursor}`);
  expect([page.data[0]?.id, rest.data[0]?.id, rest.pagination.nextCursor]).toEqual([approvalId, clarifyId, null]);

  const answer = { type: 'user.approval_response', approval_id: approvalId, result: 'deny' };
  await api.call('POST', `/v1/sessions/${first}/events`, { body: { events: [answer] } });
  expect((await list()).data.map(({ id }) => id)).toEqual([clarifyId]);
  const one = await api.call<OpenAction>('GET', `/v1/pending-actions/${approvalId}`);
  expect(one.body).toMatchObject({
    state: 'answered',
    answer: { result: 'deny', scope: 'once' },
    answeredBy: { type: 'key', name: 'test' },
  });
  expect(Date.parse(one.body.answeredAt ?? '')).toBeGreaterThan(0);
  expect((await list('state=answered')).data).toEqual([one.body]);
  expect((await api.call('GET', `/v1/pending-actions/${approvalId}`, { key: api.otherKey })).status).toBe(404);
  await api.call('POST', `/v1/sessions/${second}/archive`);
  expect((await list('state=cancelled,expired')).data).toMatchObject([{ id: clarifyId, answeredAt: null }]);
});

test('a long input is cut, and says so', async () => {
  const sessionId = await makeSession(api, agentId);
  await ask(sessionId, approval({ text: 'x'.repeat(70_000) }));
  const [action] = (await list(`sessionId=${sessionId}`)).data;
  expect(action?.inputTruncated).toBe(true);
  expect(action?.input).toMatch(/^\{"text": "x{60000,}$/);
  expect(String(action?.input)).toHaveLength(65_536);
});

test('a bad query is refused', async () => {
  for (const query of ['state=open', 'type=x', 'cursor=x', 'order=first', 'limit=0']) {
    const reply = await api.call('GET', `/v1/pending-actions?${query}`);
    expect([query, reply.status]).toEqual([query, 400]);
  }
});
