import { request } from 'node:http';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi } from '../../../src/agents/api/start.ts';
import { RefusedRequest } from '../../../src/platform/contract/refused.ts';
import { openApi } from '../../agents/api/harness.ts';
import type { Api } from '../../agents/api/harness.ts';

let api: Api;
let server: Awaited<ReturnType<typeof startApi>>;
beforeAll(async () => {
  api = await openApi();
  server = await startApi(api.backends, { host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await server.close();
  await api.close();
});

async function ask(path: string, headers: Record<string, string>) {
  const sent = request({ host: '127.0.0.1', port: server.port, path, headers, agent: false });
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of answer as AsyncIterable<Buffer>) text += chunk.toString();
  return { status: answer.statusCode, body: JSON.parse(text) as unknown };
}

test.each([
  ['address', `/v1/agents?q=${'x'.repeat(20_000)}`, {}],
  ['header', '/v1/agents', { 'x-long': 'x'.repeat(20_000) }],
])('a %s that is too large is answered as documented', async (_name, path, headers) => {
  const { status, body } = await ask(path, headers);
  expect(status).toBe(431);
  expect(RefusedRequest.parse(body).message).toBe('The address and the headers must be at most 16 KiB together.');
});
