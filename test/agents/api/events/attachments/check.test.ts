import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ATTACHMENT_MEDIA_TYPES } from '../../../../../src/agents/contract/attachments.ts';
import type { EventEnvelope } from '../../../../../src/agents/contract/events.ts';
import { buildDocx, buildPdf, buildXlsx, paragraph } from '../../../../support/documents.ts';
import { makeAgent, makeSession, openApi } from '../../harness.ts';
import type { Api } from '../../harness.ts';

const OFFICE = 'application/vnd.openxmlformats-officedocument';
const PLAIN = Buffer.from('a,b\n1,2');
const image = (format: 'png' | 'jpeg' | 'webp' | 'gif') =>
  sharp({ create: { width: 2, height: 2, channels: 3, background: 'red' } })
    .toFormat(format)
    .toBuffer();

let api: Api;
let session: string;
let samples: Record<string, Uint8Array>;
beforeAll(async () => {
  api = await openApi();
  session = await makeSession(api, await makeAgent(api, { rateLimits: { messagesPerMinute: 1000 } }));
  samples = {
    'application/pdf': buildPdf(['x']),
    [`${OFFICE}.wordprocessingml.document`]: buildDocx([paragraph('x')]),
    [`${OFFICE}.spreadsheetml.sheet`]: buildXlsx({ a: [['x']] }),
    'image/png': await image('png'),
    'image/jpeg': await image('jpeg'),
    'image/webp': await image('webp'),
    'image/gif': await image('gif'),
    'image/bmp': Buffer.concat([Buffer.from('BM'), Buffer.alloc(60)]),
  };
});
afterAll(() => api.close());

const attach = (mediaType: string, bytes: Uint8Array | string) => ({
  type: 'file',
  filename: 'a',
  mediaType,
  source: {
    type: 'data_url',
    dataUrl: `data:${mediaType};base64,${typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('base64')}`,
  },
});
const send = (...attachments: object[]) =>
  api.call<{ data: EventEnvelope[]; message: string; error: string }>('POST', `/v1/sessions/${session}/events`, {
    body: { events: [{ type: 'user.message', content: [{ type: 'text', text: 'Look.' }], attachments }] },
  });

it.each(ATTACHMENT_MEDIA_TYPES)('%s is taken where the bytes are of it, and only there', async (type) => {
  expect((await send(attach(type, samples[type] ?? PLAIN))).status).toBeLessThan(300);
  const others = Object.entries(samples).filter(([name]) => name !== type);
  const wrong = type in samples ? [...others.map(([, bytes]) => bytes), PLAIN] : others.map(([, bytes]) => bytes);
  for (const bytes of wrong) {
    const { status, body } = await send(attach('text/plain', PLAIN), attach(type, bytes));
    expect([status, body.error, body.message]).toEqual([
      400,
      'validation_error',
      'events[0].attachments[1].mediaType: must be the type of the content',
    ]);
  }
});

it('text may be UTF-16, XML or anything else that is read as text', async () => {
  const texts = [Buffer.from('\uFEFFa\tb', 'utf16le'), Buffer.from('<?xml version="1.0"?><a/>'), Buffer.from('Grüße')];
  expect((await send(...texts.map((bytes) => attach('text/plain', bytes)))).status).toBeLessThan(300);
});

it.each([
  ['a charset', 'data:text/plain;charset=utf-8;base64,aGVsbG8='],
  ['several parameters', 'data:text/plain;charset=UTF-8;format=flowed;base64,aGVsbG8='],
  ['no bytes', 'data:text/plain;base64,'],
  ['a charset, and long', `data:text/plain;charset=utf-8;base64,${'aGVs'.repeat(100_000)}`],
])('a data URL may have %s', async (_what, dataUrl) => {
  expect((await send({ ...attach('text/plain', ''), source: { type: 'data_url', dataUrl } })).status).toBeLessThan(300);
});

it('invalid base64 is rejected', async () => {
  const { status, body } = await send(attach('text/plain', 'ab!='));
  expect([status, body.message]).toEqual([400, 'events[0].attachments[0].source.dataUrl: must be a base64 data URL']);
});

it('callers cannot refer to keys of the object store', async () => {
  const key = `attachments/${session}/att_1`;
  await api.backends.objects.put(key, Buffer.from('x'), { contentType: 'text/plain' });
  const dataUrl = `capstan-object:text/plain;1;${'0'.repeat(64)};${key}`;
  const { status, body } = await send({ ...attach('text/plain', PLAIN), source: { type: 'data_url', dataUrl } });
  expect([status, body.message]).toEqual([400, 'events[0].attachments[0].source.dataUrl: must be a base64 data URL']);
});
