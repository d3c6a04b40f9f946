import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildAdmission } from '../../src/gateway/admission.ts';
import { startGateway } from './harness.ts';
import type { TestGateway } from './harness.ts';

const LIMIT = 60_000;
const FAILING = 40;
const STREAMS = 20;
const GOOD = 25;

let gateway: TestGateway;
let noisy: string;
let quiet: string;
const release = Promise.withResolvers<void>();

beforeAll(async () => {
  gateway = await startGateway({ models: { pair: ['chat/a', 'chat/b'] }, maxBytesInFlight: LIMIT });
  noisy = await gateway.makeKey({ organization: 'noisy', requestsPerMinute: 200 });
  quiet = await gateway.makeKey({ organization: 'quiet' });
});
afterAll(() => gateway.close());

function ask(key: string, content: string, options: { stream?: boolean; model?: string } = {}): Promise<Response> {
  const body = { model: 'pair', messages: [{ role: 'user', content }], ...options };
  return gateway.post('/v1/chat/completions', body, { authorization: `Bearer ${key}` });
}

test('failing prompts, slow streams and floods of one organization leave every call of another as it was', async () => {
  gateway.upstream.script(async ({ body }) => {
    const text = JSON.stringify(body);
    if (text.includes('poison')) return { status: 500, body: '{"error":{"message":"boom"}}' };
    if (text.includes('slow')) await release.promise;
    return {};
  });
  const streams = Array.from({ length: STREAMS }, () => ask(noisy, `slow ${'x'.repeat(2500)}`, { stream: true }));
  await expect
    .poll(() => gateway.upstream.requests.filter(({ body }) => JSON.stringify(body).includes('slow')).length)
    .toBe(STREAMS);
  const failing = await Promise.all(Array.from({ length: FAILING }, () => ask(noisy, 'poison')));
  expect(failing.every(({ status }) => status >= 500)).toBe(true);
  // Memory is full of the other organization's streams, and its rate limit is used up.
  expect((await ask(noisy, 'x'.repeat(20_000))).status).toBe(503);
  const flood = await Promise.all(Array.from({ length: 250 }, () => ask(noisy, 'poison')));
  expect(flood.some(({ status }) => status === 429)).toBe(true);

  gateway.upstream.requests.length = 0;
  for (let count = 0; count < GOOD; count += 1) expect((await ask(quiet, 'x'.repeat(20_000))).status).toBe(200);
  // Each tried the first model first: breakers and retries are separate per organization.
  expect(gateway.upstream.requests.map(({ body }) => body.model)).toEqual(Array.from({ length: GOOD }, () => 'a'));
  release.resolve();
  for (const stream of await Promise.all(streams)) {
    expect(stream.status).toBe(200);
    await stream.text();
  }
});

test('what others hold never keeps an organization from its fair share', () => {
  const admission = buildAdmission(100);
  const free = [admission.acquire(60, 'a'), admission.acquire(40, 'a')];
  expect(() => admission.acquire(1, 'a')).toThrow('Too many large requests');
  free.push(admission.acquire(30, 'b'), admission.acquire(20, 'b'));
  expect(() => admission.acquire(1, 'b')).toThrow('Too many large requests');
  for (const each of free) each();
  for (const bytes of [50, 50]) admission.acquire(bytes, 'a');
  expect(() => admission.acquire(1, 'a')).toThrow('Too many large requests');
});
