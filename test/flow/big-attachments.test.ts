import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import { prompt } from '../support/chat.ts';
import type { Chat } from '../support/chat.ts';
import { readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

const MIB = 1024 * 1024;
let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const attach = (filename: string, mediaType: string, bytes: Uint8Array) => ({
  type: 'file',
  filename,
  mediaType,
  source: { type: 'data_url', dataUrl: `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}` },
});
/** Long enough to go to the object store. */
const longText = (start: string) => Buffer.from(start + 'x'.repeat(MIB));
const attachmentsOf = (event: EventEnvelope | undefined) => event?.payload['attachments'];

async function countStored(): Promise<number> {
  let count = 0;
  for await (const _ of service.objects.list('attachments/')) count += 1;
  return count;
}

function send(chat: Chat, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${service.api.url}/v1/sessions/${chat.id}/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.key, ...headers },
    body: JSON.stringify(body),
  });
}

it('long attachments appear unchanged in response, stream and list, and reach the model', async () => {
  service.model.play(say('read'));
  const chat = await service.api.openChat();
  const attachments = [
    attach('a.txt', 'text/plain', longText('first ')),
    attach('short.txt', 'text/plain', Buffer.from('short')),
    attach('b.csv', 'text/csv', longText('second,')),
  ];
  const { status, body } = await chat.send(prompt('Look.', { attachments }));
  expect(status).toBe(200);
  expect(isDeepStrictEqual(attachmentsOf(body.data[0]), attachments)).toBe(true);
  await chat.next('session.status_idle');
  expect(isDeepStrictEqual(attachmentsOf(chat.frames.find(({ type }) => type === 'user.message')), attachments)).toBe(
    true,
  );
  const order = chat.frames.filter((frame) => frame.sequence > 0 && frame.status !== 'streaming');
  expect(order.map(({ sequence }) => sequence)).toEqual(
    order.map(({ sequence }) => sequence).toSorted((a, b) => a - b),
  );
  expect(isDeepStrictEqual(attachmentsOf((await chat.list())[0]), attachments)).toBe(true);
  const late = await service.api.joinChat(chat.agent, chat.id, '?after=0');
  expect(isDeepStrictEqual(attachmentsOf(await late.next('user.message')), attachments)).toBe(true);
  const [request] = service.model.requests;
  const said = request === undefined ? '' : (readChat(request).at(-1) ?? '');
  expect(said).toContain('[Attached file: a.txt]\nfirst xxx');
  expect(said).toContain('[Attached file: b.csv]\nsecond,xxx');
  late.close();
  chat.close();
});

it('a repeated request gives the first answer and keeps nothing twice; they go with the session', async () => {
  const chat = await service.api.openChat();
  const before = await countStored();
  const body = { events: [prompt('Look.', { attachments: [attach('a.txt', 'text/plain', longText('once'))] })] };
  const first = await send(chat, body, { 'idempotency-key': 'k1' });
  await chat.next('session.status_idle');
  const again = await send(chat, body, { 'idempotency-key': 'k1' });
  expect([first.status, again.status]).toEqual([200, 200]);
  const [one, two] = [await first.json(), await again.json()];
  expect(isDeepStrictEqual(one, two)).toBe(true);
  await expect.poll(countStored).toBe(before + 1);
  const other = { events: [prompt('Look.', { attachments: [attach('a.txt', 'text/plain', longText('else'))] })] };
  expect((await send(chat, other, { 'idempotency-key': 'k1' })).status).toBe(409);
  await expect.poll(countStored).toBe(before + 1);
  await service.api.call('DELETE', `/v1/sessions/${chat.id}`);
  await expect.poll(countStored).toBe(before);
  chat.close();
});

it('of a refused request nothing is kept', async () => {
  const chat = await service.api.openChat();
  const before = await countStored();
  const wrong = [attach('a.txt', 'text/plain', longText('fine')), attach('b.png', 'image/png', longText('no image'))];
  const refused = await send(chat, { events: [prompt('Look.', { attachments: wrong })] });
  expect([refused.status, await refused.json()]).toEqual([
    400,
    { error: 'validation_error', message: 'events[0].attachments[1].mediaType: must be the type of the content' },
  ]);
  const odd = attach('a.txt', 'text/plain', longText('fine'));
  odd.source.dataUrl = `${odd.source.dataUrl.slice(0, MIB)}!!!!${odd.source.dataUrl.slice(MIB)}`;
  expect((await send(chat, { events: [prompt('Look.', { attachments: [odd] })] })).status).toBe(400);
  const stray = { events: [prompt('Look.'), { type: 'user.steer', message: odd.source.dataUrl }] };
  expect((await send(chat, stray)).status).toBe(400);
  const sized = { ...attach('a.txt', 'text/plain', longText('fine')), sizeBytes: 3 };
  const mismatch = await send(chat, { events: [prompt('Look.', { attachments: [sized] })] });
  expect(await mismatch.json()).toMatchObject({
    message: 'events[0].attachments[0].sizeBytes: must equal the decoded size',
  });
  const nowhere = await fetch(`${service.api.url}/v1/sessions/ses_01h455vb4pex5vsknk084sn02q/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.key },
    body: JSON.stringify({
      events: [prompt('Look.', { attachments: [attach('a.txt', 'text/plain', longText('x'))] })],
    }),
  });
  expect(nowhere.status).toBe(404);
  await expect.poll(countStored).toBe(before);
  chat.close();
});

it('an attachment over 40 MB is refused by its size', async () => {
  const chat = await service.api.openChat();
  const before = await countStored();
  const big = attach('a.txt', 'text/plain', Buffer.alloc(40_000_001, 'x'));
  const { status, body } = await chat.send(prompt('Look.', { attachments: [big] }));
  expect([status, body]).toEqual([
    400,
    {
      error: 'validation_error',
      message: 'events[0].attachments[0].source.dataUrl: must hold at most 40000000 bytes',
    },
  ]);
  await expect.poll(countStored).toBe(before);
  chat.close();
});

it('ten attachments of 40 MB are taken in one request', { timeout: 600_000 }, async () => {
  service.model.play(say('read'));
  const chat = await service.api.openChat();
  // The model would read more than one string in a test can hold.
  chat.close();
  const blocks = Array.from({ length: 10 }, () => randomBytes(30_000).toString('base64'));
  async function* write(): AsyncGenerator<Buffer> {
    yield Buffer.from('{"events":[{"type":"user.message","content":[{"type":"text","text":"Look."}],"attachments":[');
    for (const [index, block] of blocks.entries()) {
      const head = `{"type":"file","filename":"${index}.txt","mediaType":"text/plain","sizeBytes":39990000,`;
      yield Buffer.from(
        `${index === 0 ? '' : ','}${head}"source":{"type":"data_url","dataUrl":"data:text/plain;base64,`,
      );
      // text whose bytes differ between files
      const text = Buffer.from(block.slice(0, 39_990)).toString('base64');
      for (let part = 0; part < 1000; part += 1) yield Buffer.from(text);
      yield Buffer.from('"}}');
    }
    yield Buffer.from(']}]}');
  }
  const response = await fetch(`${service.api.url}/v1/sessions/${chat.id}/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.key },
    body: ReadableStream.from(write()),
    duplex: 'half',
  });
  expect(response.status).toBe(200);
  // The response repeats the request, which is more than a string can hold.
  let size = 0;
  for await (const chunk of response.body ?? []) size += (chunk as Uint8Array).length;
  expect(size).toBeGreaterThan(10 * 53_000_000);
  expect((await service.model.request(0)).body).toBeDefined();
});
