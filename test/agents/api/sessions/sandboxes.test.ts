import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sandbox } from '../../../../src/agents/contract/sandboxes.ts';
import type { SandboxInfo } from '../../../../src/sandbox/sandbox.ts';
import { makeAgent, makeSession, openApi } from '../harness.ts';
import type { Api } from '../harness.ts';

type Page = { data: Sandbox[]; pagination: { hasMore: boolean; nextCursor: string | null } };

let api: Api;
let agentId: string;
beforeAll(async () => {
  api = await openApi();
  agentId = await makeAgent(api, { name: 'worker' });
});
afterAll(() => api.close());

async function findOrganization(): Promise<string> {
  const { body } = await api.call<{ organizationId: string }>('GET', '/v1/me');
  return body.organizationId;
}

function addLive(organizationId: string, info: Partial<SandboxInfo> & { sessionId: string }): void {
  const absent = { reason: undefined, node: undefined, pod: undefined, startedAt: undefined, volume: undefined };
  api.backends.sandboxes.live.push({
    organizationId,
    agentId,
    subjectId: 'ada',
    phase: 'running',
    ...absent,
    ...info,
  });
}

test('the sandboxes of the organization are listed with their sessions, newest first, in pages', async () => {
  const organizationId = await findOrganization();
  const first = await makeSession(api, agentId, { subjectId: 'ada', title: 'First' });
  const second = await makeSession(api, agentId, { subjectId: 'bob', title: 'Second' });
  const startedAt = new Date('2026-01-31T09:30:00Z');
  addLive(organizationId, { sessionId: first, startedAt, volume: { usedBytes: 10, sizeBytes: 100 } });
  addLive(organizationId, { sessionId: second, subjectId: 'bob', phase: 'failed', reason: 'no node fits' });
  addLive('org_other', { sessionId: 'ses_other' });

  const page = await api.call<Page>('GET', '/v1/sandboxes?limit=1');
  expect(page.body.data).toMatchObject([
    { object: 'sandbox', sessionId: second, sessionTitle: 'Second', phase: 'failed', reason: 'no node fits' },
  ]);
  const cursor = encodeURIComponent(page.body.pagination.nextCursor ?? '');
  const rest = await api.call<Page>('GET', `/v1/sandboxes?limit=1&cursor=${cursor}`);
  expect(rest.body).toMatchObject({
    data: [
      {
        sessionId: first,
        sessionStatus: 'idle',
        agentName: 'worker',
        startedAt: startedAt.toISOString(),
        volume: { usedBytes: 10, sizeBytes: 100 },
      },
    ],
    pagination: { hasMore: false, nextCursor: null },
  });
  const ofAda = await api.call<Page>('GET', '/v1/sandboxes?subjectId=ada');
  expect(ofAda.body.data.map(({ sessionId }) => sessionId)).toEqual([first]);
  const others = await api.call<Page>('GET', '/v1/sandboxes', { key: api.otherKey });
  expect(others.body.data).toEqual([]);
  expect((await api.call('GET', '/v1/sandboxes?cursor=x')).status).toBe(400);
});

test('a sandbox is stopped by its session, and a failure to do so is said', async () => {
  const organizationId = await findOrganization();
  const { removed } = api.backends.sandboxes;
  const sessionId = await makeSession(api, agentId, { subjectId: 'cleo' });
  const answer = await api.call('DELETE', `/v1/sessions/${sessionId}/sandbox`);
  expect([answer.status, answer.body]).toEqual([200, { object: 'sandbox.stopped', sessionId, stopped: true }]);
  expect(removed.at(-1)).toEqual({ organizationId, agentId, subjectId: 'cleo', sessionId });
  api.backends.sandboxes.fail = true;
  expect((await api.call('DELETE', `/v1/sessions/${sessionId}/sandbox`)).status).toBe(503);
  api.backends.sandboxes.fail = false;
});
