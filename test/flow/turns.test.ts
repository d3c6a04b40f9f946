import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Turn } from '../../src/agents/contract/turns.ts';
import { callTool, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

type Listed = { data: Turn[]; pagination: { nextCursor: string | null } };

it('turns tell their model calls with times, tokens, cost and calls of tools', async () => {
  const usage = { input: 50, output: 20, cacheRead: 30, cacheWrite: 0, reasoning: 0 };
  service.model.play(callTool('todo', { todos: [] }), say('Done.', { usage }), say('Again.'));
  const chat = await service.api.openChat();
  await chat.run('one');
  await chat.run('two');
  const { id } = await chat.session();
  const list = async (query: string) =>
    (await service.api.call<Listed>('GET', `/v1/sessions/${id}/turns?${query}`)).body;
  const { data } = await list('');
  expect(data.map(({ state, stopReason }) => [state, stopReason?.type])).toEqual([
    ['ended', 'end_turn'],
    ['ended', 'end_turn'],
  ]);
  const events = await chat.list();
  const [first] = data;
  const own = events.filter(({ turnId }) => turnId === first?.id);
  expect([first?.firstSequence, first?.lastSequence]).toEqual([own[0]?.sequence, own.at(-1)?.sequence]);
  const use = events.find(({ type }) => type === 'agent.tool_use');
  expect(first?.steps).toMatchObject([
    { index: 1, threadId: null, model: 'acme/small', toolUseIds: [use?.id], error: null, retries: 0 },
    {
      index: 2,
      toolUseIds: [],
      usage: { input: 50, output: 20, cache_read: 30, calls: 1, cost_usd: (20 + 3 + 200) / 1_000_000 },
    },
  ]);
  for (const { startedAt, firstTokenAt, endedAt } of first?.steps ?? []) {
    expect(Date.parse(firstTokenAt ?? '')).toBeGreaterThanOrEqual(Date.parse(startedAt));
    expect(Date.parse(endedAt)).toBeGreaterThanOrEqual(Date.parse(firstTokenAt ?? ''));
  }
  const page = await list('order=desc&limit=1');
  const rest = await list(`order=desc&limit=1&cursor=${page.pagination.nextCursor}`);
  expect([...page.data, ...rest.data].map((turn) => turn.id)).toEqual(data.map((turn) => turn.id).toReversed());
  expect(rest.pagination.nextCursor).toBeNull();
  chat.close();
});

it('a call that fails is a step with its error', async () => {
  service.model.play({ status: 401, body: '{"error":{"message":"no"}}' });
  const chat = await service.api.openChat();
  await chat.run('one');
  const { id } = await chat.session();
  const { data } = (await service.api.call<Listed>('GET', `/v1/sessions/${id}/turns`)).body;
  expect(data[0]?.steps).toMatchObject([{ index: 1, error: 'authentication', firstTokenAt: null }]);
  expect(data[0]?.stopReason).toMatchObject({ type: 'error' });
  chat.close();
});
