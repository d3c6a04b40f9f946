import { afterAll, beforeAll, expect, it } from 'vitest';
import { openOtelMetrics } from '../../src/gateway/usage/otel.ts';
import { startGateway } from './harness.ts';
import type { TestGateway } from './harness.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';
import type { Metric } from '../support/otlp-receiver.ts';

const CANARY = 'canary-5b1f';
let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>;
let metrics: ReturnType<typeof openOtelMetrics>;
let gateway: TestGateway;

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  metrics = openOtelMetrics({ url: `${receiver.url}/v1/metrics`, intervalMs: 50, serviceName: 'gate' });
  gateway = await startGateway({
    metrics,
    providers: (baseUrl) => ({ acme: { format: 'messages', baseUrl, models: [{ id: 'small' }] } }),
    models: { fast: ['acme/small'] },
    retry: { attempts: 1 },
  });
});
afterAll(async () => {
  await gateway.close();
  await metrics.close();
  await receiver.close();
});

const find = (name: string): Metric | undefined =>
  receiver.exports.flatMap((each) => each.metrics.filter((metric) => metric.name === name)).at(-1);

it('a collector gets the metrics of the semantic conventions, and nothing that was said', async () => {
  const usage = { input: 50, output: 21, cacheRead: 30, cacheWrite: 0, reasoning: 0 };
  gateway.upstream.script((_request, number) =>
    number === 2
      ? { status: 400, body: `{"error":{"message":"${CANARY}"}}` }
      : { reply: { content: [{ type: 'text', text: CANARY }], usage } },
  );
  const body = { model: 'fast', messages: [{ role: 'user', content: CANARY }] };
  await (await gateway.post('/v1/chat/completions', body)).text();
  await (await gateway.post('/v1/chat/completions', { ...body, stream: true })).text();
  await (await gateway.post('/v1/chat/completions', body)).text();

  const names = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'acme',
    'gen_ai.request.model': 'fast',
    'gen_ai.response.model': 'acme/small',
  };
  await expect.poll(() => find('gen_ai.client.operation.duration')?.points.map(({ count }) => count)).toEqual([2, 1]);
  expect(find('gen_ai.client.token.usage')).toMatchObject({
    unit: '{token}',
    points: [
      { attributes: { ...names, 'gen_ai.token.type': 'input' }, count: 2, sum: 100 },
      { attributes: { ...names, 'gen_ai.token.type': 'output' }, count: 2, sum: 42 },
    ],
  });
  expect(find('gen_ai.client.token.usage')?.points[0]?.bounds.slice(0, 4)).toEqual([1, 4, 16, 64]);
  for (const name of ['gen_ai.client.operation.duration', 'gen_ai.server.request.duration']) {
    expect(find(name)).toMatchObject({
      unit: 's',
      points: [
        { attributes: names },
        { attributes: { 'error.type': 'invalid_request', 'gen_ai.request.model': 'fast' } },
      ],
    });
  }
  // Of the one stream.
  for (const name of ['gen_ai.server.time_to_first_token', 'gen_ai.server.time_per_output_token']) {
    expect(find(name)).toMatchObject({ unit: 's', points: [{ attributes: names, count: 1 }] });
  }
  const last = receiver.exports.at(-1);
  expect(last).toMatchObject({
    path: '/v1/metrics',
    headers: { 'content-type': 'application/x-protobuf' },
    resource: { 'service.name': 'gate' },
  });
  for (const { bytes } of receiver.exports) expect(bytes.toString('latin1')).not.toContain(CANARY);
});
