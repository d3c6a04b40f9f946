import Anthropic, { RateLimitError } from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, expect, it } from 'vitest';
import { sendBudgetsChanged } from '../../src/platform/bus/budget-changes.ts';
import { deleteBudget, findBudget, putBudget } from '../../src/platform/store/budgets.ts';
import { ensureOrganization } from '../../src/platform/store/keys.ts';
import { FORMATS, UPSTREAMS, shareGateway } from './harness.ts';

const gateway = shareGateway({
  providers: (url) => ({
    paid: {
      format: 'chat-completions',
      baseUrl: url,
      apiKey: 'k',
      models: [{ id: 'small', contextWindow: 32_000, price: { input: 1, output: 10 } }],
    },
  }),
});
const MODEL = 'paid/small';
const PATHS = { 'chat-completions': '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' };
const BODIES = {
  'chat-completions': { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100 },
  messages: { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 100 },
  responses: { input: 'Hi', max_output_tokens: 100 },
};
/** 0.2 US dollars. */
const USAGE = { input: 100_000, output: 10_000, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
const REPLY = { reply: { content: [{ type: 'text' as const, text: 'Hello.' }], usage: USAGE } };

const message = 'The budget of the organization is used up: $0.3.';
const OPENAI_REFUSAL = { error: { type: 'insufficient_quota', code: 'insufficient_quota', message } };
const REFUSALS = {
  'chat-completions': OPENAI_REFUSAL,
  responses: OPENAI_REFUSAL,
  messages: {
    type: 'error',
    error: { type: 'rate_limit_error', message, details: { error_code: 'insufficient_quota' } },
  },
};

async function set(limitUsd: number, onReached: 'refuse' | 'notify' = 'refuse') {
  const { db, bus } = gateway.ports;
  const organizationId = await ensureOrganization(db, 'default');
  const target = { scope: 'organization', id: organizationId } as const;
  await db.transaction((tx) => deleteBudget(tx, organizationId, target));
  await db.query('DELETE FROM usage_hours');
  await db.transaction((tx) => putBudget(tx, organizationId, target, { limitUsd, period: 'total', onReached }));
  sendBudgetsChanged(bus, organizationId);
  return async () => (await findBudget(db, organizationId, target))!;
}

afterEach(async () => {
  const { db, bus } = gateway.ports;
  await db.query('DELETE FROM budgets');
  sendBudgetsChanged(bus, await ensureOrganization(db, 'default'));
});

it.each(FORMATS)('refuses %s in its own words once the budget is spent', async (format) => {
  gateway.upstream.script(() => REPLY);
  const read = await set(0.3);
  const send = (stream: boolean) => gateway.post(PATHS[format], { ...BODIES[format], model: MODEL, stream });
  for (const stream of [false, true]) {
    const response = await send(stream);
    expect(response.status).toBe(200);
    await response.text();
  }
  expect(await read()).toMatchObject({ spentUsd: 0.4, reservedUsd: 0, reached: true });
  const calls = gateway.upstream.requests.length;
  const refused = await send(true);
  expect(refused.status).toBe(429);
  expect(refused.headers.get('x-should-retry')).toBe('false');
  expect(await refused.json()).toMatchObject(REFUSALS[format]);
  expect(gateway.upstream.requests).toHaveLength(calls);
});

it('is not called again by official clients, which raise their own errors', async () => {
  await set(0);
  const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key });
  await expect(
    openai.chat.completions.create({ model: MODEL, messages: [{ role: 'user', content: 'Hi' }] }),
  ).rejects.toMatchObject({ status: 429, code: 'insufficient_quota', type: 'insufficient_quota' });
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: gateway.key });
  await expect(
    anthropic.messages.create({ model: MODEL, max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }),
  ).rejects.toBeInstanceOf(RateLimitError);
});

it('refuses nothing where a budget only notifies, and holds nothing after a failed call', async () => {
  gateway.upstream.script(() => REPLY);
  const read = await set(0.1, 'notify');
  const send = () => gateway.post(PATHS.messages, { ...BODIES.messages, model: MODEL });
  expect((await send()).status).toBe(200);
  expect((await send()).status).toBe(200);
  gateway.upstream.script(() => ({ status: 400 }));
  expect((await send()).status).toBe(400);
  await expect.poll(read).toMatchObject({ spentUsd: 0.4, reservedUsd: 0 });
});

it('takes a limit far below what is spent', async () => {
  gateway.upstream.script(() => REPLY);
  const read = await set(1);
  await gateway.post(PATHS.responses, { model: MODEL, ...BODIES.responses });
  const { db } = gateway.ports;
  const organizationId = await ensureOrganization(db, 'default');
  const target = { scope: 'organization', id: organizationId } as const;
  await expect.poll(async () => (await read()).spentUsd).toBeCloseTo(0.2);
  const tiny = { limitUsd: 1e-12, period: 'total', onReached: 'refuse' } as const;
  await db.transaction((tx) => putBudget(tx, organizationId, target, tiny));
  expect(await read()).toMatchObject({ reached: true, remainingUsd: 0 });
});

it('charges the usage of a forwarded call', async () => {
  const read = await set(1);
  gateway.upstream.script(() => REPLY);
  const free = await gateway.post(PATHS.messages, { ...BODIES.messages, model: UPSTREAMS.messages });
  expect(free.status).toBe(200);
  const body = { ...BODIES['chat-completions'], model: MODEL, stream: true };
  expect(await (await gateway.post(PATHS['chat-completions'], body)).text()).toContain('Hello.');
  expect(await read()).toMatchObject({ spentUsd: 0.2, reservedUsd: 0 });
});

it('a batch that a provider would run is refused once the budget is spent', async () => {
  gateway.upstream.script(() => REPLY);
  await set(0.1);
  expect((await gateway.post(PATHS.messages, { ...BODIES.messages, model: MODEL })).status).toBe(200);
  const calls = gateway.upstream.requests.length;
  const params = { ...BODIES.messages, model: UPSTREAMS.messages };
  const refused = await gateway.post('/v1/messages/batches', { requests: [{ custom_id: 'a', params }] });
  expect(refused.status).toBe(429);
  expect(gateway.upstream.requests).toHaveLength(calls);
});
