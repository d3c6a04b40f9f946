import { afterAll, beforeAll, expect, test } from 'vitest';
import { pino } from 'pino';
import { buildServer } from '../../src/agents/api/server.ts';
import type { AuditRecord, AuditVerification } from '../../src/platform/contract/audit.ts';
import type { ApiKeyCreated } from '../../src/platform/contract/keys.ts';
import { deleteOldAudit } from '../../src/platform/store/audit.ts';
import { AGENT, beginTurn, makeAgent, makeSession, openApi } from '../agents/api/harness.ts';
import type { Api } from '../agents/api/harness.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

type Page = { data: AuditRecord[]; pagination: { nextCursor: string | null } };
const list = async (query = '', key = api.key) => (await api.call<Page>('GET', `/v1/audit${query}`, { key })).body;
const verify = async (key = api.key) => (await api.call<AuditVerification>('GET', '/v1/audit/verify', { key })).body;
const count = async () => (await list('?limit=1')).data[0]?.sequence ?? 0;

/** Action and resource of each record that `work` creates. */
async function records(work: () => Promise<unknown>) {
  const before = await count();
  await work();
  const { data } = await list('?limit=100');
  return data
    .filter(({ sequence }) => sequence > before)
    .map(({ action, resource }) => [action, resource.type, resource.id]);
}

test('a change leaves one record with actor, action and address', async () => {
  const before = await count();
  const body = { ...AGENT, systemPrompt: 'Do not tell: 4711.' };
  const headers = { 'user-agent': 'tests/1', 'x-request-id': 'my-request' };
  const agent = await api.call<{ id: string }>('POST', '/v1/agents', { body, headers });
  const [record] = (await list('?limit=1')).data;
  const { body: me } = await api.call<{ keyId: string; organizationId: string }>('GET', '/v1/me');
  const resource = { type: 'agent', id: agent.body.id };
  const changes = { name: 'Ada', modelName: 'script/demo', systemPrompt: '[redacted]' };
  expect(record).toMatchObject({
    object: 'audit_entry',
    sequence: before + 1,
    organization: 'default',
    organizationId: me.organizationId,
    actor: { type: 'key', id: me.keyId, name: 'test', ip: '127.0.0.1', userAgent: 'tests/1' },
    action: 'createAgent',
    resource,
    target: resource,
    outcome: 'success',
    requestId: 'my-request',
    address: '127.0.0.1',
    changes,
    details: changes,
  });
  expect(record?.at).toBe(record?.time);
  expect(JSON.stringify(record)).not.toContain('4711');
});

test('reads, refused and failed requests leave none', async () => {
  const left = await records(async () => {
    await api.call('GET', '/v1/agents');
    await api.call('POST', '/v1/agents', { body: { name: 'x' } });
    await api.call('DELETE', '/v1/agents/agt_none');
    await api.call('POST', '/v1/agents', { key: null, body: AGENT });
  });
  expect(left).toEqual([]);
});

test('each kind of change leaves exactly one', async () => {
  const agentId = await makeAgent(api);
  const sessionId = await makeSession(api, agentId);
  const waiting = await makeSession(api, agentId);
  const actionId = await beginTurn(api, waiting, 'waiting');
  const vault = (await api.call<{ id: string }>('POST', '/v1/vaults', { body: { displayName: 'V' } })).body.id;
  const key = (await api.call<ApiKeyCreated>('POST', '/v1/api-keys', { body: { name: 'k' } })).body;
  const text = [{ type: 'text', text: 'Hello' }];
  const answer = { type: 'user.approval_response', approval_id: actionId, result: 'allow' };
  const changes: [method: string, path: string, body: object | undefined, expected: unknown[]][] = [
    ['PATCH', `/v1/agents/${agentId}`, { name: 'Bo' }, ['patchAgent', 'agent', agentId]],
    ['PUT', `/v1/agents/${agentId}/production`, { version: 0 }, ['setProduction', 'agent', agentId]],
    ['PUT', `/v1/agents/${agentId}/tags/next`, { version: 0 }, ['setTag', 'agent', agentId]],
    ['PUT', `/v1/agents/${agentId}/memory`, { content: 'x' }, ['putAgentMemory', 'agent', agentId]],
    ['POST', `/v1/sessions/${sessionId}`, { title: 'T' }, ['updateSession', 'session', sessionId]],
    [
      'POST',
      `/v1/sessions/${sessionId}/events`,
      { events: [{ type: 'user.message', content: text }] },
      ['sendEvents', 'session', sessionId],
    ],
    ['POST', `/v1/sessions/${waiting}/events`, { events: [answer] }, ['sendEvents', 'session', waiting]],
    ['PUT', `/v1/agents/${agentId}/vaults`, { vaultIds: [vault] }, ['setAgentVaults', 'agent', agentId]],
    [
      'PUT',
      `/v1/agents/${agentId}/users/anna/files/content`,
      { path: 'a', content: 'x' },
      ['writeFile', 'agent', agentId],
    ],
    ['PATCH', `/v1/api-keys/${key.id}`, { name: 'n' }, ['patchApiKey', 'api_key', key.id]],
    ['POST', `/v1/api-keys/${key.id}/rotate`, undefined, ['rotateApiKey', 'api_key', key.id]],
    ['DELETE', `/v1/api-keys/${key.id}`, undefined, ['revokeApiKey', 'api_key', key.id]],
    ['DELETE', `/v1/vaults/${vault}`, undefined, ['deleteVault', 'vault', vault]],
  ];
  for (const [method, path, body, expected] of changes) {
    const left = await records(async () => {
      const reply = await api.call(method, path, body === undefined ? {} : { body });
      expect([path, reply.status < 300]).toEqual([path, true]);
    });
    expect([path, left]).toEqual([path, [expected]]);
  }
  const answered = (await list(`?resource=session/${waiting}`)).data[0];
  expect(answered?.changes).toMatchObject({
    events: [{ type: 'user.approval_response', approval_id: actionId, result: 'allow', scope: 'once' }],
  });
});

test('what is made is named, and a sign-in is recorded too', async () => {
  const agentId = await makeAgent(api);
  const { key } = (await api.call<ApiKeyCreated>('POST', '/v1/api-keys', { body: { name: 'person' } })).body;
  let sessionId = '';
  expect(
    await records(async () => {
      sessionId = await makeSession(api, agentId);
    }),
  ).toEqual([['createSession', 'session', sessionId]]);
  let signInId = '';
  expect(
    await records(async () => {
      const reply = await api.call<{ id: string }>('POST', '/v1/sign-ins', { key: null, body: { key } });
      signInId = reply.body.id;
    }),
  ).toEqual([['createSignIn', 'sign_in', signInId]]);
});

test('a replay under the same Idempotency-Key leaves none', async () => {
  const sessionId = await makeSession(api, await makeAgent(api));
  const body = { events: [{ type: 'user.message', content: [{ type: 'text', text: 'Hello' }] }] };
  const send = () =>
    api.call('POST', `/v1/sessions/${sessionId}/events`, { body, headers: { 'idempotency-key': 'once' } });
  expect(await records(send)).toHaveLength(1);
  expect(await records(send)).toEqual([]);
});

test('records are found by who, what, which and when, page by page', async () => {
  const { body: me } = await api.call<{ keyId: string }>('GET', '/v1/me');
  const agentId = await makeAgent(api);
  const start = new Date().toISOString();
  for (const name of ['a', 'b', 'c']) await api.call('PATCH', `/v1/agents/${agentId}`, { body: { name } });
  for (const resource of [agentId, `agent/${agentId}`]) {
    expect((await list(`?actor=${me.keyId}&action=patchAgent&resource=${resource}`)).data).toHaveLength(3);
  }
  expect((await list(`?resource=agent&from=${start}`)).data).toHaveLength(3);
  expect((await list(`?to=${start}&resource=${agentId}`)).data).toHaveLength(1);
  expect((await list('?actor=key_none')).data).toEqual([]);
  const first = await list(`?resource=${agentId}&limit=3`);
  const rest = await list(`?resource=${agentId}&limit=3&cursor=${first.pagination.nextCursor ?? ''}`);
  expect([...first.data, ...rest.data].map(({ changes }) => changes['name'])).toEqual(['c', 'b', 'a', 'Ada']);
  expect(rest.pagination.nextCursor).toBeNull();
});

test('organizations have chains of their own', async () => {
  await makeAgent(api, {}, api.otherKey);
  const { data } = await list('?limit=100', api.otherKey);
  expect(new Set(data.map(({ organization }) => organization))).toEqual(new Set(['other']));
  expect(data.at(-1)).toMatchObject({ sequence: 1, previousHash: '' });
  expect(await verify(api.otherKey)).toMatchObject({ ok: true, checked: data.length });
});

test('many changes at once make one chain', async () => {
  const before = await count();
  await Promise.all(Array.from({ length: 20 }, () => makeAgent(api)));
  expect(await count()).toBe(before + 20);
  expect(await verify()).toMatchObject({ ok: true, checked: before + 20, lastSequence: before + 20, brokenAt: null });
});

test('records cannot be updated', async () => {
  const altered = api.backends.db.query(`UPDATE audit_records SET action = 'x' WHERE sequence = 1`);
  await expect(altered).rejects.toThrow('append-only');
});

test.each([
  ['an altered text', `UPDATE audit_records SET entry = replace(entry, 'Ada', 'Eve') WHERE sequence = 2`, 'altered'],
  ['an altered column', `UPDATE audit_records SET actor_id = 'key_eve' WHERE sequence = 2`, 'altered'],
  ['a deleted record', 'DELETE FROM audit_records WHERE sequence = 2', 'missing'],
  ['a cut end', 'DELETE FROM audit_records WHERE sequence >= 2', 'missing'],
])('%s is found', async (_name, sql, reason) => {
  const other = await openApi();
  for (let made = 0; made < 3; made += 1) await makeAgent(other);
  const { db } = other.backends;
  await db.exec(`ALTER TABLE audit_records DISABLE TRIGGER audit_records_append_only`);
  await db.query(sql);
  const reply = await other.call<AuditVerification>('GET', '/v1/audit/verify');
  expect(reply.body).toMatchObject({ ok: false, brokenAt: { sequence: 2, reason } });
  await other.close();
});

test('a change that is rolled back leaves no record, and none is left without its change', async () => {
  const other = await openApi();
  const { db } = other.backends;
  await db.exec(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON audit_records FOR EACH ROW EXECUTE FUNCTION refuse();`);
  const reply = await other.call('POST', '/v1/agents', { body: AGENT });
  expect(reply.status).toBe(500);
  const { rows } = await db.query('SELECT id FROM agents');
  expect(rows).toEqual([]);
  await other.close();
});

test('retention deletes the oldest records, and the rest is still a chain', async () => {
  const other = await openApi();
  for (let made = 0; made < 4; made += 1) await makeAgent(other);
  const { db } = other.backends;
  await db.exec(`ALTER TABLE audit_records DISABLE TRIGGER audit_records_append_only;
    UPDATE audit_records SET time = now() - interval '500 days' WHERE sequence <= 2;`);
  expect(await deleteOldAudit(db, 400)).toBe(true);
  expect(await deleteOldAudit(db, 400)).toBe(false);
  const reply = await other.call<AuditVerification>('GET', '/v1/audit/verify');
  expect(reply.body).toMatchObject({ ok: true, checked: 2, firstSequence: 3, lastSequence: 4 });
  await other.close();
});

test('records are lines of the log where the setting says so', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const app = buildServer({ ...api.backends, log }, { printAudit: true });
  await app.inject({ method: 'POST', url: '/v1/agents', headers: { 'x-api-key': api.key }, payload: AGENT });
  const [record] = (await list('?limit=1')).data;
  expect(lines.map((line) => (JSON.parse(line) as { audit: unknown }).audit)).toEqual([record]);
  await app.close();
});
