import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FastifyInstance } from 'fastify';
import { buildServer } from '../../../src/agents/api/server.ts';
import { openEgress } from '../../../src/platform/egress/egress.ts';
import { openApi } from '../../agents/api/harness.ts';
import type { Api } from '../../agents/api/harness.ts';

const ADDRESSES: Record<string, string[]> = {
  'hooks.example': ['93.184.215.14'],
  'inside.example': ['10.1.2.3'],
  'half.example': ['93.184.215.14', 'fd00::1'],
};

let api: Api;
let app: FastifyInstance;
beforeAll(async () => {
  api = await openApi();
  const resolve = async (host: string) => {
    const found = ADDRESSES[host];
    if (found === undefined) throw new Error('no such name');
    return found;
  };
  const egress = openEgress({ allow: ['10.9.0.0/16'], resolve });
  app = buildServer({ ...api.backends, egress });
});
afterAll(async () => {
  await app.close();
  await api.close();
});

async function send(method: 'POST' | 'PATCH', path: string, body: object) {
  const response = await app.inject({ method, url: path, headers: { 'x-api-key': api.key }, payload: body });
  const { id, message = '' } = response.json<{ id: string; message?: string }>();
  return { status: response.statusCode, id, message };
}
const create = (url: string) => send('POST', '/v1/webhooks', { url, events: '*' });

test.each([
  ['a private address', 'http://10.1.2.3/hook'],
  ['loopback', 'http://127.0.0.1:8080/hook'],
  ['loopback in another form', 'http://0x7f000001/hook'],
  ['a private IPv6 address', 'http://[fd00::1]/hook'],
  ['metadata of a cloud', 'http://169.254.169.254/latest'],
  ['a name with a private address', 'https://inside.example/hook'],
  ['a name with a private address among others', 'https://half.example/hook'],
])('an endpoint that deliveries never reach is refused: %s', async (_name, url) => {
  const made = await create(url);
  expect([made.status, made.message]).toEqual([400, expect.stringMatching(/^url: .* not on the public internet/)]);
});

test('public, opened and unknown addresses are accepted, and changes are checked alike', async () => {
  const { status, id } = await create('https://hooks.example/hook');
  expect(status).toBe(201);
  for (const url of ['http://10.9.1.1/hook', 'https://later.example/hook'])
    expect((await create(url)).status).toBe(201);
  const moved = await send('PATCH', `/v1/webhooks/${id}`, { url: 'http://10.1.2.3/hook' });
  expect([moved.status, moved.message]).toEqual([400, expect.stringMatching(/^url: /)]);
  expect((await send('PATCH', `/v1/webhooks/${id}`, { description: 'd' })).status).toBe(200);
});
