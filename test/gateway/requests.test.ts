import { expect, it } from 'vitest';
import { deleteOldRequests } from '../../src/gateway/store/requests.ts';
import { shareGateway } from './harness.ts';

const gateway = shareGateway();

type Entry = Record<string, unknown> & { id: string };
type List = { data: Entry[]; pagination: { hasMore: boolean; nextCursor: string | null } };

async function list(query = '', key = gateway.key): Promise<List> {
  return (await (await gateway.get(`/v1/requests${query}`, { authorization: `Bearer ${key}` })).json()) as List;
}

it('every call is recorded by its id, without content', async () => {
  const body = {
    model: 'chat/small',
    user: 'ann',
    stream: true,
    messages: [{ role: 'user', content: 'a secret canary' }],
  };
  const response = await gateway.post('/v1/chat/completions', body, { 'x-capstan-tags': 'team=blue, bad tag, x' });
  await response.text();
  const id = response.headers.get('x-request-id') ?? '';
  await expect.poll(async () => (await gateway.get(`/v1/requests/${id}`)).status).toBe(200);
  const record = (await (await gateway.get(`/v1/requests/${id}`)).json()) as Entry;
  expect(record).toMatchObject({
    object: 'gateway.request',
    id,
    model: 'chat/small',
    upstream: 'chat/small',
    format: 'chat-completions',
    outcome: 'ok',
    inputTokens: 10,
    outputTokens: 5,
    user: 'ann',
    tags: ['team=blue', 'x'],
  });
  expect(record['firstTokenMs']).toEqual(expect.any(Number));
  expect(JSON.stringify(record)).not.toContain('canary');
  const failed = await gateway.post('/v1/embeddings', { model: 'script/e', input: 'a' });
  await failed.text();
  await expect.poll(async () => (await list()).data[0]?.['format']).toBe('embeddings');
});

it('the list goes by cursor, and shows the own organization alone', async () => {
  for (let count = 0; count < 3; count += 1) await gateway.post('/v1/moderations', { input: 'a' });
  await expect.poll(async () => (await list()).data.length).toBeGreaterThanOrEqual(3);
  const first = await list('?limit=2');
  expect(first.pagination.hasMore).toBe(true);
  const next = await list(`?limit=2&cursor=${first.pagination.nextCursor}`);
  const ids = [...first.data, ...next.data].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const other = await gateway.makeKey({ organization: 'other' });
  expect((await list('', other)).data).toEqual([]);
  const foreign = await gateway.get(`/v1/requests/${ids[0]}`, { authorization: `Bearer ${other}` });
  expect(foreign.status).toBe(404);
  expect((await gateway.get('/v1/requests?cursor=x')).status).toBe(400);
});

it('old records are deleted', async () => {
  await gateway.ports.db.query(`UPDATE gateway_requests SET created_at = now() - interval '31 days'`);
  expect(await deleteOldRequests(gateway.ports.db, 30, 1000)).toBeGreaterThan(0);
  expect((await list()).data).toEqual([]);
});
