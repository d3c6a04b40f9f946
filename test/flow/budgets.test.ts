import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Budget } from '../../src/platform/contract/budgets.ts';
import type { Webhook } from '../../src/platform/contract/webhooks.ts';
import { customTool, toolResult } from '../support/chat.ts';
import { callTool, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

/** 0.2 US dollars at the model's price. */
const usage = { input: 100_000, output: 10_000, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
const REACHED = { type: 'budget_reached' };

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const put = async (path: string, body: object) => {
  const answer = await service.api.call<Budget>('PUT', `/v1/budgets/${path}`, body);
  expect(answer.status).toBe(200);
  return answer.body;
};
const read = async (path: string) => (await service.api.call<Budget>('GET', `/v1/budgets/${path}`)).body;

it('pauses a session at its limit, and resumes it once the limit is raised', async () => {
  const chat = await service.api.openChat();
  const path = `session/${chat.id}`;
  await put(path, { limitUsd: 0.3, period: 'session' });
  service.model.play(say('One.', { usage }), say('Two.', { usage }), say('Three.', { usage }));
  expect((await chat.run('1')).payload['stop_reason']).toEqual({ type: 'end_turn' });
  expect(await read(path)).toMatchObject({ spentUsd: 0.2, reservedUsd: 0, remainingUsd: 0.3 - 0.2, reached: false });
  expect((await chat.run('2')).payload['stop_reason']).toEqual({ type: 'end_turn' });
  const stopped = await chat.run('3');
  expect(stopped.payload['stop_reason']).toEqual({
    ...REACHED,
    budget: { scope: 'session', id: chat.id, limitUsd: 0.3, period: 'session', onReached: 'pause', spentUsd: 0.4 },
  });
  expect(await chat.session()).toMatchObject({ status: 'idle', lastStopReason: REACHED });
  expect(service.model.requests).toHaveLength(2);
  await put(path, { limitUsd: 1, period: 'session' });
  expect((await chat.next('session.status_idle')).payload['stop_reason']).toEqual({ type: 'end_turn' });
  expect(readChat(service.model.requests[2]!).at(-1)).toMatch(/^user: 3\s*The budget .* has been raised/);
  expect((await chat.list()).findLast(({ type }) => type === 'user.message')?.status).toBe('processed');
  chat.close();
});

it('stops between the calls of a turn, and continues with the next message', async () => {
  const agent = await service.api.createAgent({ tools: [customTool('look', 'always_allow')] });
  const chat = await service.api.openChat(agent);
  const path = `subject/${agent.id}:anna`;
  await put(path, { limitUsd: 0.1, period: 'day', onReached: 'refuse' });
  const call = callTool('look', { id: '7' });
  service.model.play({ reply: { ...('reply' in call ? call.reply : {}), usage } }, say('Found.', { usage }));
  await chat.prompt('Look.');
  const use = await chat.next('agent.custom_tool_use');
  await chat.send(toolResult(String(use.payload['id']), 'seven'));
  expect(
    (
      await chat.next(
        (frame) => frame.type === 'session.status_idle' && !('event_ids' in (frame.payload['stop_reason'] as object)),
      )
    ).payload['stop_reason'],
  ).toMatchObject({ ...REACHED, budget: { scope: 'subject', id: `${agent.id}:anna`, onReached: 'refuse' } });
  expect(service.model.requests).toHaveLength(1);
  const other = await service.api.openChat(agent, { subjectId: 'bob' });
  service.model.play(say('Hello, Bob.'));
  expect((await other.run('Hi')).payload['stop_reason']).toEqual({ type: 'end_turn' });
  expect(await put(path, { limitUsd: 5, period: 'day', onReached: 'refuse' })).toMatchObject({ spentUsd: 0.2 });
  service.model.play(say('Seven.'));
  expect((await chat.run('And?')).payload['stop_reason']).toEqual({ type: 'end_turn' });
  expect(readChat(service.model.requests[0]!)).toEqual(expect.arrayContaining(['tool: seven', 'user: And?']));
  chat.close();
  other.close();
});

it('counts the amount spent before the budget was set', async () => {
  const chat = await service.api.openChat();
  service.model.play(say('One.', { usage }));
  await chat.run('1');
  expect(await put(`session/${chat.id}`, { limitUsd: 0.2 })).toMatchObject({ period: 'total', reached: true });
  expect((await chat.run('2')).payload['stop_reason']).toMatchObject(REACHED);
  const deleted = await service.api.call('DELETE', `/v1/budgets/session/${chat.id}`);
  expect(deleted.body).toEqual({ object: 'budget.deleted', id: `session/${chat.id}`, deleted: true });
  expect((await chat.next('session.status_idle')).payload['stop_reason']).toEqual({ type: 'end_turn' });
  chat.close();
});

it('tells webhooks and the stream of the organization of thresholds', async () => {
  const bodies: { type: string; data: Record<string, unknown> }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(JSON.parse(Buffer.concat(chunks).toString()) as (typeof bodies)[number]);
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const { body: webhook } = await service.api.call<Webhook>('POST', '/v1/webhooks', {
    url,
    events: ['budget.threshold'],
  });
  const stop = new AbortController();
  const stream = await fetch(`${service.api.url}/v1/events/stream?types=budget.threshold`, {
    headers: { 'x-api-key': service.key },
    signal: stop.signal,
  });
  let frames = '';
  const reading = (async () => {
    for await (const text of stream.body!.pipeThrough(new TextDecoderStream())) frames += text;
  })().catch(() => undefined);
  const agent = await service.api.createAgent();
  const chat = await service.api.openChat(agent);
  await put(`agent/${agent.id}`, { limitUsd: 0.4, period: 'month', onReached: 'notify' });
  service.model.play(say('One.', { usage }), say('Two.', { usage }), say('Three.', { usage }));
  for (const text of ['1', '2', '3']) await chat.run(text);
  await expect.poll(() => bodies.length, { timeout: 20_000 }).toBe(3);
  expect(new Set(bodies.map(({ data }) => data['threshold']))).toEqual(new Set([50, 80, 100]));
  expect(bodies[0]).toMatchObject({
    type: 'budget.threshold',
    data: { sessionId: null, agentId: agent.id, eventId: null, budget: { scope: 'agent', limitUsd: 0.4 } },
  });
  await expect.poll(() => frames.match(/^event: budget\.threshold$/gm)?.length).toBe(3);
  expect(frames).toContain(`"resourceId":"agent/${agent.id}"`);
  stop.abort();
  await reading;
  await service.api.call('DELETE', `/v1/webhooks/${webhook.id}`);
  server.close();
  chat.close();
});

it('lists budgets of the organization only', async () => {
  const agent = await service.api.createAgent();
  const whole = await put('organization/default', { limitUsd: 1000, period: 'month', onReached: 'notify' });
  expect(whole).toMatchObject({
    scope: 'organization',
    periodStart: expect.stringMatching(/-01T00:00:00.000Z$/) as string,
  });
  await put(`agent/${agent.id}`, { limitUsd: 1, period: 'week' });
  type List = { data: Budget[]; pagination: { nextCursor: string | null } };
  const first = await service.api.call<List>('GET', '/v1/budgets?limit=1');
  expect(first.body.data).toMatchObject([{ scope: 'agent', id: agent.id, agentId: agent.id, subjectId: null }]);
  const cursor = encodeURIComponent(first.body.pagination.nextCursor ?? '');
  const next = await service.api.call<List>('GET', `/v1/budgets?limit=100&cursor=${cursor}`);
  expect(next.body.data.map(({ id }) => id)).toContain(whole.id);
  const found = await service.api.call<List>('GET', '/v1/budgets?scope=organization');
  expect(found.body.data).toHaveLength(1);
  for (const path of ['agent/agt_none', `subject/${agent.id}`, 'session/ses_none', 'organization/other']) {
    expect((await service.api.call('PUT', `/v1/budgets/${path}`, { limitUsd: 1 })).status).toBe(404);
  }
  expect((await service.api.call('GET', `/v1/budgets/session/none`)).status).toBe(404);
  expect((await service.api.call('PUT', `/v1/budgets/agent/${agent.id}`, { limitUsd: -1 })).status).toBe(400);
  const audit = await service.api.call<{ data: { resource: object; changes: object }[] }>(
    'GET',
    '/v1/audit?action=putBudget&limit=1',
  );
  expect(audit.body.data[0]).toMatchObject({
    resource: { type: 'budget', id: `agent/${agent.id}` },
    changes: { limitUsd: 1, period: 'week' },
  });
});
