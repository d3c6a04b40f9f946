import { afterAll, beforeAll, expect, test } from 'vitest';
import type { List } from '../../../src/platform/contract/common.ts';
import { makeAgent, makeSession, openApi } from './harness.ts';
import type { Api } from './harness.ts';

/** Every list that is paged by offset or by cursor. */
const LISTS = [
  '/v1/agents',
  '/v1/agents/AGENT/versions',
  '/v1/agents/AGENT/tags',
  '/v1/agents/AGENT/automations',
  '/v1/agents/AGENT/users/anna/automations',
  '/v1/agents/AGENT/users/anna/automations/AUTOMATION/sessions',
  '/v1/sessions',
  '/v1/vaults',
  '/v1/vaults/VAULT/credentials',
  '/v1/api-keys',
] as const;

/** Every list that is paged by cursor only. */
const CURSOR_LISTS = ['/v1/automations', '/v1/subjects'] as const;

type Paged = { data: unknown[]; pagination: { hasMore: boolean; nextCursor: string | null } };

let api: Api;
let names: Record<string, string>;
beforeAll(async () => {
  api = await openApi();
  const agentId = await makeAgent(api);
  const make = async (path: string, body: object) => (await api.call<{ id: string }>('POST', path, { body })).body.id;
  const vaultId = await make('/v1/vaults', { displayName: 'x' });
  const automations = `/v1/agents/${agentId}/users/anna/automations`;
  const automationId = await make(automations, { prompt: 'x', schedule: 'every 2h' });
  names = { AGENT: agentId, AUTOMATION: automationId, VAULT: vaultId };
  await makeAgent(api);
  await makeSession(api, agentId);
  await makeSession(api, agentId, { subjectId: 'bob' });
  await make('/v1/vaults', { displayName: 'y' });
  await make(automations, { prompt: 'y', schedule: 'every 2h' });
  await api.call('PATCH', `/v1/agents/${agentId}`, { body: { systemPrompt: 'second' } });
  for (const name of ['a', 'b']) {
    await api.call('PUT', `/v1/agents/${agentId}/tags/${name}`, { body: { version: 0 } });
    const auth = { type: 'static_bearer', mcpServerUrl: `https://${name}.example/mcp`, token: 't' };
    await make(`/v1/vaults/${vaultId}/credentials`, { displayName: name, auth });
    await api.call('POST', `${automations}/${automationId}/trigger`);
  }
});
afterAll(() => api.close());

const list = (path: string, query = '') =>
  api.call<List<{ id?: string; name?: string }> & { error?: string; message?: string }>(
    'GET',
    path.replaceAll(/[A-Z]{3,}/g, (name) => names[name] ?? name) + query,
  );

test.each(LISTS)('%s holds 50 unless told otherwise, in pages that fit together', async (path) => {
  const all = (await list(path)).body;
  expect(all).toMatchObject({ object: 'list', pagination: { limit: 50, offset: 0, hasMore: false } });
  const { total } = all.pagination;
  expect(total).toBeGreaterThanOrEqual(2);
  expect(all.data).toHaveLength(total);
  const first = (await list(path, '?limit=1')).body;
  expect(first.pagination).toMatchObject({ limit: 1, offset: 0, hasMore: true, total });
  expect(first.data).toEqual(all.data.slice(0, 1));
  const rest = (await list(path, '?limit=100&offset=1')).body;
  expect(rest.pagination).toMatchObject({ limit: 100, offset: 1, hasMore: false, total });
  expect(rest.data).toEqual(all.data.slice(1));
});

test.each([...LISTS, ...CURSOR_LISTS])(
  '%s is read by cursor to its end, and not by cursor and offset',
  async (path) => {
    const all = (await list(path)).body;
    const seen: unknown[] = [];
    let cursor = '';
    for (let more = true; more;) {
      const page = (await list(path, `?limit=1${cursor}`)).body as unknown as Paged;
      const fields = cursor === '' ? [] : Object.keys(page.pagination).toSorted();
      expect([[], ['hasMore', 'limit', 'nextCursor']]).toContainEqual(fields);
      seen.push(...page.data);
      more = page.pagination.hasMore;
      expect(more).toBe(page.pagination.nextCursor !== null);
      cursor = `&cursor=${page.pagination.nextCursor}`;
    }
    expect(seen).toEqual(all.data);
    const bad = await list(path, '?cursor=WyJ4Il0');
    expect([bad.status, bad.body.error]).toEqual([400, 'validation_error']);
    if (CURSOR_LISTS.some((own) => own === path)) return;
    const { nextCursor } = ((await list(path, '?limit=1')).body as unknown as Paged).pagination;
    expect((await list(path, `?cursor=${nextCursor}&offset=0`)).status).toBe(400);
  },
);

test.each(LISTS.flatMap((path) => ['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'offset=x'].map((q) => [path, q])))(
  '%s?%s is refused',
  async (path, query) => {
    const { status, body } = await list(path, `?${query}`);
    expect([status, body.error]).toEqual([400, 'validation_error']);
    expect(body.message).toMatch(new RegExp(`^${query.split('=')[0]}: `));
  },
);

test.each(['limit=0', 'limit=101', 'limit=x', 'after=-1', 'after=x', 'after=1.5'])(
  'a history with %s is refused',
  async (query) => {
    const sessionId = (await list('/v1/sessions?limit=1')).body.data[0]?.id ?? '';
    const path = `/v1/sessions/${sessionId}/events`;
    const replies = [await api.call('GET', `${path}?${query}`)];
    if (query.startsWith('after')) replies.push(await api.call('GET', `${path}/stream?${query}`));
    for (const { status, body } of replies) expect([status, body.error]).toEqual([400, 'validation_error']);
  },
);
