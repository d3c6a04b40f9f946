import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type {
  Agent,
  AgentTag,
  AgentVersion,
  AgentVersionFull,
  StandingApproval,
} from '../../../../src/agents/contract/agents.ts';
import type { List } from '../../../../src/platform/contract/common.ts';
import { makeAgent, openApi } from '../harness.ts';
import type { Api } from '../harness.ts';

let api: Api;
let id: string;
beforeAll(async () => {
  api = await openApi();
});
beforeEach(async () => {
  id = await makeAgent(api);
  await api.call('PATCH', `/v1/agents/${id}`, { body: { systemPrompt: 'second' } });
});
afterAll(() => api.close());

const put = <T>(path: string, version: unknown) => api.call<T>('PUT', `/v1/agents/${id}${path}`, { body: { version } });

test('versions are listed newest first and read with their tools', async () => {
  const { body } = await api.call<List<AgentVersion>>('GET', `/v1/agents/${id}/versions?limit=1`);
  expect(body.pagination).toMatchObject({ limit: 1, offset: 0, hasMore: true, total: 2 });
  expect(body.data[0]).toMatchObject({ version: 1, systemPrompt: 'second' });
  expect(body.data[0]).not.toHaveProperty('tools');
  const full = await api.call<AgentVersionFull>('GET', `/v1/agents/${id}/versions/1`);
  expect(full.body).toMatchObject({ ...body.data[0], object: 'agent.version', tools: [{ type: 'agent_toolset' }] });
});

test('production moves to any version that exists, and back', async () => {
  const moved = await put('/production', 1);
  const version = await api.call<AgentVersion>('GET', `/v1/agents/${id}/versions/1`);
  expect(moved.body).toEqual({ label: 'production', version: 1, agentVersionId: version.body.id });
  expect((await api.call('GET', `/v1/agents/${id}/production`)).body).toEqual(moved.body);
  expect((await put('/production', 0)).status).toBe(200);
  expect((await api.call<Agent>('GET', `/v1/agents/${id}`)).body.productionVersion).toBe(0);
});

test.each([2, 999_999_999_999])('version %d that does not exist is 404', async (version) => {
  for (const reply of [await put('/production', version), await put('/tags/dev', version)]) {
    expect([reply.status, reply.text]).toEqual([404, expect.stringContaining('not_found')]);
  }
  expect((await api.call('GET', `/v1/agents/${id}/versions/2`)).status).toBe(404);
});

test('tags are made, moved, listed by name and deleted', async () => {
  const made = await put<AgentTag>('/tags/b.1', 0);
  expect(made.body).toMatchObject({ object: 'agent.tag', name: 'b.1', version: 0 });
  await put('/tags/a', 0);
  const moved = await put<AgentTag>('/tags/b.1', 1);
  expect(moved.body).toMatchObject({ version: 1, createdAt: made.body.createdAt });
  expect(moved.body.agentVersionId).not.toBe(made.body.agentVersionId);
  const list = await api.call<List<AgentTag>>('GET', `/v1/agents/${id}/tags`);
  expect(list.body.data.map((tag) => tag.name)).toEqual(['a', 'b.1']);
  const gone = await api.call('DELETE', `/v1/agents/${id}/tags/a`);
  expect(gone.body).toEqual({ object: 'agent.tag.deleted', name: 'a', deleted: true });
  expect((await api.call('DELETE', `/v1/agents/${id}/tags/a`)).status).toBe(404);
});

test.each(['production', 'Production', '-a', 'a%20b', 'x'.repeat(65), '.a'])('the tag name %s is 400', async (name) => {
  const reply = await put(`/tags/${name}`, 0);
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('tagName')]);
});

test('standing approvals are listed and revoked, one or all', async () => {
  const { organization_id } = (
    await api.backends.db.query<{ organization_id: string }>('SELECT organization_id FROM agents WHERE id = $1', [id])
  ).rows[0]!;
  for (const [subject, tool] of [
    ['anna', 'terminal'],
    ['anna', 'mcp/a'],
    ['anna', 'web_search'],
    ['bob', 'terminal'],
  ]) {
    await api.backends.db.query(
      'INSERT INTO standing_approvals (organization_id, agent_id, subject_id, tool) VALUES ($1, $2, $3, $4)',
      [organization_id, id, subject, tool],
    );
  }
  const path = `/v1/agents/${id}/users/anna/approvals`;
  const list = async () => (await api.call<List<StandingApproval>>('GET', path)).body.data.map(({ tool }) => tool);
  expect(await list()).toEqual(['mcp/a', 'terminal', 'web_search']);
  const one = await api.call('DELETE', `${path}/mcp%2Fa`);
  expect(one.body).toEqual({ object: 'approval.deleted', tool: 'mcp/a', deleted: true });
  expect((await api.call('DELETE', `${path}/mcp%2Fa`)).status).toBe(404);
  expect((await api.call('DELETE', path)).body).toEqual({ object: 'approval.deleted', tool: null, deleted: true });
  expect(await list()).toEqual([]);
  const other = await api.call<List<StandingApproval>>('GET', `/v1/agents/${id}/users/bob/approvals`);
  expect(other.body.data).toHaveLength(1);
});
