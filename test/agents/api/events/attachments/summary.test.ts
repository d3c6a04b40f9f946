import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventEnvelope } from '../../../../../src/agents/contract/events.ts';
import { makeAgent, makeSession, openApi } from '../../harness.ts';
import type { Api } from '../../harness.ts';

let api: Api;
let agentId: string;
beforeAll(async () => {
  api = await openApi();
  agentId = await makeAgent(api);
});
afterAll(() => api.close());

test.each([20, 400_000])('attachments of %i bytes are left out of a list and read one by one', async (size) => {
  const path = `/v1/sessions/${await makeSession(api, agentId)}/events`;
  const bytes = Buffer.alloc(size, 'a');
  const source = { type: 'data_url', dataUrl: `data:text/plain;base64,${bytes.toString('base64')}` };
  const attachments = [{ type: 'file', filename: "it's.txt", mediaType: 'text/plain', source }];
  const prompt = { type: 'user.message', content: [{ type: 'text', text: 'look' }], attachments };
  const sent = await api.call<{ data: EventEnvelope[] }>('POST', path, { body: { events: [prompt] } });
  const href = `${path}/${sent.body.data[0]?.id}/attachments/0`;
  const summary = { type: 'file', filename: "it's.txt", mediaType: 'text/plain', sizeBytes: size, href };
  for (const order of ['asc', 'desc']) {
    const query = `attachments=omit&order=${order}&types=user.message`;
    const listed = await api.call<{ data: EventEnvelope[] }>('GET', `${path}?${query}`);
    expect(listed.body.data[0]?.payload['attachments']).toEqual([summary]);
  }
  const event = `${path}/${sent.body.data[0]?.id}`;
  const one = await api.call<EventEnvelope>('GET', `${event}?attachments=omit`);
  expect(one.body.payload['attachments']).toEqual([summary]);
  expect((await api.call('GET', event)).body).toMatchObject({ payload: { attachments: [{ source }] } });
  const read = await api.app.inject({ url: href, headers: { 'x-api-key': api.key } });
  expect(read.headers).toMatchObject({
    'content-type': 'text/plain',
    'content-security-policy': "sandbox; default-src 'none'",
    'content-disposition': "attachment; filename*=UTF-8''it%27s.txt",
  });
  expect(read.rawPayload.equals(bytes)).toBe(true);
  expect((await api.call('GET', href.replace(/0$/, '1'))).status).toBe(404);
  expect((await api.call('GET', href, { key: api.otherKey })).status).toBe(404);
});
