import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRemoteInference } from '../../src/inference/remote.ts';
import { startGateway } from '../gateway/harness.ts';
import type { TestGateway } from '../gateway/harness.ts';
import { allowAll, textOf, typesOf } from '../support/chat.ts';
import { callTool, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let gateway: TestGateway;
let service: Service;

beforeAll(async () => {
  service = await startService({
    async openInference(providers) {
      gateway = await startGateway({ providers: () => providers });
      const { url, key } = gateway;
      return openRemoteInference({ baseUrl: `${url}/v1`, apiKey: key, log: gateway.ports.log, retry: { baseMs: 1 } });
    },
  });
});
afterAll(async () => {
  await service.close();
  await gateway.close();
});

it('a worker behind a gateway runs a turn with a tool, its deltas, its usage and its cost', async () => {
  const answer = 'The quick brown fox jumps over the lazy dog. '.repeat(20);
  const usage = { input: 50, output: 20, cacheRead: 30, cacheWrite: 0, reasoning: 0 };
  const call = callTool('write_file', { path: 'note.txt', content: 'kept' });
  service.model.play(
    { reply: { ...call.reply, usage } },
    {
      ...say(answer, { usage }),
      chunkBytes: 500,
      gapMs: 2,
    },
  );
  const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }));
  await chat.prompt('Write it down.');
  const idle = await chat.next('session.status_idle');
  const deltas = chat.frames.filter((frame) => frame.payload['delta'] === true);
  expect(answer.startsWith(deltas.map(textOf).join(''))).toBe(true);
  expect(deltas.length).toBeGreaterThan(0);
  expect(textOf(chat.frames.find((frame) => frame.payload['delta'] === false))).toBe(answer);
  expect(typesOf(await chat.list())).toContain('agent.tool_result');
  expect(readChat(service.model.requests[1]!).at(-1)).toContain('note.txt');
  expect(idle.usage).toMatchObject({ model: 'acme/small', input: 100, output: 40, calls: 2, context_max: 32_000 });
  expect(idle.usage?.cost_usd).toBeCloseTo((2 * (20 + 3 + 200)) / 1_000_000, 12);
  chat.close();
});

it('the calls of a worker are on the account of its key', async () => {
  const read = async () => (await (await gateway.get('/v1/usage?groupBy=model')).json()) as { data: object[] };
  await expect.poll(read).toMatchObject({ data: [{ model: 'acme/small', cachedInputTokens: 60 }] });
});

it('a turn fails by the fault of the upstream, told in its own words', async () => {
  service.model.play({ status: 400, body: JSON.stringify({ error: { message: 'no such temperature' } }) });
  const chat = await service.api.openChat();
  const idle = await chat.run('Go.');
  expect(idle.payload['stop_reason']).toEqual({
    type: 'error',
    code: 'upstream_rejected',
    message: 'no such temperature',
    retryable: false,
  });
  chat.close();
});
