import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WireFormat } from '../../src/inference/config.ts';
import { allow, allowAll, prompt } from '../support/chat.ts';
import type { Chat } from '../support/chat.ts';
import { buildDocx, buildPdf, buildXlsx, paragraph, table } from '../support/documents.ts';
import { callTool, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const OFFICE = 'application/vnd.openxmlformats-officedocument';
const DOCX = `${OFFICE}.wordprocessingml.document`;
const XLSX = `${OFFICE}.spreadsheetml.sheet`;
const attach = (filename: string, mediaType: string, data: string | Uint8Array, more: object = {}) => ({
  type: 'file',
  filename,
  mediaType,
  source: {
    type: 'data_url',
    dataUrl: `data:${mediaType};base64,${typeof data === 'string' ? data : Buffer.from(data).toString('base64')}`,
  },
  ...more,
});
const text = (value: string) => Buffer.from(value);

/** The encoding of an image in each format, with a placeholder for the data. */
const images: Record<WireFormat, (type: string, data: unknown) => object> = {
  'chat-completions': (type, data) => ({ type: 'image_url', image_url: { url: address(type, data) } }),
  messages: (type, data) => ({ type: 'image', source: { type: 'base64', media_type: type, data } }),
  responses: (type, data) => ({ type: 'input_image', image_url: address(type, data) }),
};

function address(type: string, data: unknown): unknown {
  return typeof data === 'string' ? `data:${type};base64,${data}` : data;
}

async function sendAll(chat: Chat, attachments: object[], metadata: object = {}): Promise<void> {
  const { status } = await chat.send(prompt('Look.', { attachments, metadata }));
  expect(status).toBe(200);
  await chat.next('session.status_idle');
}

describe.each(Object.keys(images) as WireFormat[])('attachments over %s', (format) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ format });
  });
  afterAll(() => service.close());

  it('an image reaches the model as an image, a text as text, and the log has both', async () => {
    service.model.play(say('seen'), say('no longer there'));
    const chat = await service.api.openChat();
    const attachments = [
      attach('dot.png', 'image/png', PNG),
      attach('table.csv', 'text/csv', text('a,b\n1,2')),
      attach('other.csv', 'application/csv', text('c,d')),
      attach('note.md', 'text/x-markdown', text('# Grüße')),
      attach('old.txt', 'text/plain', Buffer.from('Größe: 5 µm', 'latin1')),
      attach('wide.csv', 'text/csv', Buffer.from('\uFEFFe;Ä', 'utf16le')),
    ];
    await sendAll(chat, attachments, { secretNumber: 424_242 });
    await chat.run('And now?');
    const [first, later] = service.model.requests.map(({ body }) => body);
    const seen = JSON.stringify(first);
    expect(first).toSatisfy(() => findObject(first, images[format]('image/png', PNG)));
    expect(seen).toContain(String.raw`[Attached file: table.csv]\na,b\n1,2`);
    expect(seen).toContain(String.raw`[Attached file: other.csv]\nc,d`);
    expect(seen).toContain(String.raw`[Attached file: note.md]\n# Grüße`);
    expect(seen).toContain(String.raw`[Attached file: old.txt]\nGröße: 5 µm`);
    expect(seen).toContain(String.raw`[Attached file: wide.csv]\ne;Ä`);
    expect(seen).not.toContain('424242');
    // They belong to their turn.
    expect(JSON.stringify(later)).not.toContain(PNG);
    expect(JSON.stringify(later)).not.toContain('a,b');
    expect(JSON.stringify(later)).toContain('[Attached file: table.csv (text/csv); it was shown in its turn');
    const [message] = await chat.list();
    expect(message?.payload).toMatchObject({
      content: [{ type: 'text', text: 'Look.' }],
      attachments,
      metadata: { secretNumber: 424_242 },
    });
    chat.close();
  });

  it('documents reach the model as text, and a PDF in visual mode as pictures of its pages', async () => {
    service.model.play(say('read'));
    const chat = await service.api.openChat();
    await sendAll(chat, [
      attach('a.pdf', 'application/pdf', buildPdf(['first page', 'second page'])),
      attach('b.docx', DOCX, buildDocx([paragraph('Dear all'), table([['Item'], ['Tea']])])),
      attach('c.xlsx', XLSX, buildXlsx({ Sales: [['North', 12]] })),
      attach('d.pdf', 'application/pdf', buildPdf(['drawn', 'drawn too']), { analysisMode: 'visual' }),
    ]);
    const [request] = service.model.requests;
    const seen = JSON.stringify(request?.body);
    expect(seen).toContain(String.raw`[Attached file: a.pdf]\n## Page 1\n\nfirst page\n\n## Page 2\n\nsecond page`);
    expect(seen).toContain(String.raw`[Attached file: b.docx]\nDear all\n\n| Item |\n| --- |\n| Tea |`);
    expect(seen).toContain(String.raw`[Attached file: c.xlsx]\n## Sheet: Sales\n\nNorth,12`);
    expect(seen).toContain('[Attached file: d.pdf, 2 pages, as pictures]');
    expect(seen).not.toContain('drawn');
    const isPage = (value: unknown) => typeof value === 'string' && /^(?:data:image\/jpeg;base64,)?\/9j\//.test(value);
    expect(countObjects(request?.body, images[format]('image/jpeg', isPage))).toBe(2);
    chat.close();
  });
});

describe('attachments', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.close());

  it('are text for a model that cannot read images', async () => {
    service.model.play(say('read'));
    const chat = await service.api.openChat(await service.api.createAgent({ modelName: 'acme/blind' }));
    await sendAll(chat, [
      attach('dot.png', 'image/png', PNG),
      attach('d.pdf', 'application/pdf', buildPdf(['plain words']), { analysisMode: 'visual' }),
    ]);
    const [request] = service.model.requests;
    const said = request === undefined ? '' : readChat(request).at(-1);
    expect(said).toContain('[Attached image: dot.png (image/png); left out, for this model cannot read images]');
    expect(said).toContain('[Attached file: d.pdf, as text, for this model cannot read images]\nplain words');
    expect(JSON.stringify(request?.body)).not.toContain(PNG);
    chat.close();
  });

  it('that are damaged cost their own content only', async () => {
    service.model.play(say('read'));
    const chat = await service.api.openChat();
    await sendAll(chat, [
      attach('a.pdf', 'application/pdf', text('%PDF-1.7\nnothing more')),
      attach('b.png', 'image/png', Buffer.from(PNG, 'base64').subarray(0, 40)),
      attach('c.txt', 'text/plain', text('fine')),
    ]);
    const [request] = service.model.requests;
    const said = request === undefined ? '' : readChat(request).at(-1);
    expect(said).toContain('[Attached file: a.pdf (application/pdf); its content cannot be shown. The PDF is damaged');
    expect(said).toContain('[Attached file: b.png (image/png); its content cannot be shown. The image');
    expect(said).toContain('[Attached file: c.txt]\nfine');
    chat.close();
  });

  it('can be read on in parts, in their own turn', async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `row ${index + 1} with some words in it`).join('\n');
    const read = (path: string, more: object = {}) => callTool('read_file', { path, ...more });
    service.model.play(
      read('attachment:rows.csv', { offset: 4998, limit: 2 }),
      read('attachment:other.csv'),
      say('read'),
      read('attachment:rows.csv'),
      say('gone'),
    );
    const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }));
    await sendAll(chat, [attach('rows.csv', 'text/csv', text(lines))]);
    const [first, second, third] = service.model.requests.map((request) => readChat(request).at(-1));
    expect(first).toContain('read_file reads on: path "attachment:rows.csv"');
    expect(second).toContain('4998|row 4998 with some words in it\n4999|row 4999');
    expect(third).toContain('The message of this turn has: rows.csv.');
    await chat.run('And now?');
    expect(readChat(service.model.requests[4]!).at(-1)).toContain('There is no attachment named rows.csv');
    chat.close();
  });

  it('take no more than half of the window', async () => {
    service.model.play(say('read'));
    const chat = await service.api.openChat();
    await sendAll(chat, [
      attach('long.txt', 'text/plain', text('x'.repeat(100_000))),
      attach('short.txt', 'text/plain', text('end')),
    ]);
    const [request] = service.model.requests;
    const said = request === undefined ? '' : (readChat(request).at(-1) ?? '');
    expect(said).toContain(
      `[Attached file: long.txt]\n${'x'.repeat(32_000)}\n[68000 more characters are left out. read_file reads on: path "attachment:long.txt", offset 1.]`,
    );
    expect(said).toContain('[Attached file: short.txt]\nend');
    chat.close();
  });

  it('are the same after the turn has waited for a person', async () => {
    service.model.play(callTool('write_file', { path: 'a.txt', content: 'x' }), say('done'));
    const chat = await service.api.openChat();
    await sendAll(chat, [
      attach('d.pdf', 'application/pdf', buildPdf(['drawn']), { analysisMode: 'visual' }),
      attach('c.xlsx', XLSX, buildXlsx({ Sales: [['North', 12]] })),
    ]);
    const ask = chat.frames.find((frame) => frame.type === 'agent.approval_request');
    await chat.send(allow(ask?.id ?? ''));
    await chat.next('session.status_idle');
    const [before, after] = service.model.requests.map(({ body }) => (body['messages'] as object[])[1]);
    expect(JSON.stringify(before)).toContain('North,12');
    expect(after).toEqual(before);
    chat.close();
  });
});

/** Counts the parts of `value` that have all fields of `wanted`; a function in `wanted` is a predicate. */
function countObjects(value: unknown, wanted: object): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value).reduce<number>((sum, each) => sum + countObjects(each, wanted), 0);
  return inner + (fits(value, wanted) ? 1 : 0);
}

function fits(value: unknown, wanted: object): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Record<string, unknown>;
  return Object.entries(wanted).every(([name, field]) => {
    if (typeof field === 'function') return (field as (given: unknown) => boolean)(fields[name]);
    return typeof field === 'object' && field !== null ? fits(fields[name], field) : fields[name] === field;
  });
}

function findObject(value: unknown, wanted: object): boolean {
  return countObjects(value, wanted) > 0;
}
