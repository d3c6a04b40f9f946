import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WireFormat } from '../../src/inference/config.ts';
import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import { textOf } from '../support/chat.ts';
import type { Chat } from '../support/chat.ts';
import { callTool, callTools, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const TOOLS = [
  { type: 'agent_toolset', defaultConfig: { enabled: true, permissionPolicy: { type: 'always_allow' } }, configs: [] },
];

const images: Record<WireFormat, object> = {
  'chat-completions': { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
  messages: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
  responses: { type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
};

/** The tool's results of a turn, in order. */
async function resultsOf(chat: Chat): Promise<EventEnvelope[]> {
  return (await chat.list()).filter(({ type }) => type === 'agent.tool_result');
}

async function look(chat: Chat, image_url: string): Promise<{ result: EventEnvelope; idle: EventEnvelope }> {
  const idle = await chat.run(`Look at ${image_url.slice(0, 40)}`);
  const result = (await resultsOf(chat)).at(-1);
  if (result === undefined) throw new Error('no result');
  return { result, idle };
}

describe.each(Object.keys(images) as WireFormat[])('vision_analyze over %s', (format) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ format });
  });
  afterAll(() => service.close());

  it('shows an image to the model and counts the call', async () => {
    const image_url = `data:image/png;base64,${PNG}`;
    const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
    service.model.play(
      callTool('vision_analyze', { image_url, question: 'Which colour?' }),
      say('It is red.', { usage }),
      say('Red.'),
    );
    const chat = await service.api.openChat(await service.api.createAgent({ tools: TOOLS }));
    const { result, idle } = await look(chat, image_url);
    expect(result.payload).toMatchObject({ is_error: false });
    expect(textOf(result)).toBe('{"success":true,"analysis":"It is red."}');
    const [, asked] = service.model.requests;
    expect(asked?.body).toSatisfy((body: unknown) => hasObject(body, images[format]));
    expect(JSON.stringify(asked?.body)).toContain('Which colour?');
    expect(asked?.body['tools'] ?? []).toEqual([]);
    expect(idle.payload['usage']).toMatchObject({ calls: 3 });
    expect((await chat.session()).usage).toMatchObject({ calls: 3 });
    chat.close();
  });
});

describe('vision_analyze', () => {
  let service: Service;
  let seeing: Service;
  let site: Server;
  let url: string;
  beforeAll(async () => {
    service = await startService();
    seeing = await startService({ visionModel: 'acme/small' });
    site = createServer((request, response) => {
      if (request.url === '/away') return response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
      if (request.url === '/moved') return response.writeHead(302, { location: '/dot' }).end();
      if (request.url === '/page') return response.end('<html>no image</html>');
      if (request.url !== '/dot') return response.writeHead(404).end();
      // The type is detected from the bytes, whatever the server declares.
      return response.writeHead(200, { 'content-type': 'text/plain' }).end(Buffer.from(PNG, 'base64'));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => site.once('listening', resolve));
    url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    site.close();
    await Promise.all([service.close(), seeing.close()]);
  });

  const ask = async (image_url: string, on = service, modelName = 'acme/small') => {
    on.model.play(callTool('vision_analyze', { image_url, question: 'What?' }), say('a dot'), say('done'));
    const chat = await on.api.openChat(await on.api.createAgent({ tools: TOOLS, modelName }));
    const { result } = await look(chat, image_url);
    chat.close();
    return JSON.parse(textOf(result)) as { success: boolean; error?: string; analysis: string };
  };

  it('reads an image from the network, redirects included', async () => {
    expect(await ask(`${url}/moved`)).toEqual({ success: true, analysis: 'a dot' });
    expect(JSON.stringify(service.model.requests[1]?.body)).toContain(`data:image/png;base64,${PNG}`);
  });

  it.each([
    ['/away', /169\.254\.169\.254|not allowed|address/i],
    ['/page', /not an image/],
    ['/missing', /answered 404/],
  ])('says why an image is not there: %s', async (path, why) => {
    const answer = await ask(url + path);
    expect(answer).toMatchObject({ success: false, analysis: '' });
    expect(answer.error).toMatch(why);
    expect(service.model.requests).toHaveLength(2);
  });

  it.each([
    ['ftp://example.org/a.png', /http, https and data/],
    ['data:image/png,raw', /base64/],
    ['nowhere.png', /File not found/],
    ['../../etc/passwd', /.+/],
  ])('refuses %s', async (address, why) => {
    const answer = await ask(address);
    expect(answer.error).toMatch(why);
    expect(service.model.requests).toHaveLength(2);
  });

  it('reads an image of the workspace, and one that is too big is made smaller first', async () => {
    const side = 9000;
    const big = await sharp({ create: { width: side, height: 10, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    service.model.play(
      callTool('terminal', { command: `echo ${big.toString('base64')} | base64 -d > big.png` }),
      callTools([['vision_analyze', { image_url: 'big.png', question: 'What?' }]]),
      say('a line'),
      say('done'),
    );
    const chat = await service.api.openChat(await service.api.createAgent({ tools: TOOLS }));
    const { result } = await look(chat, 'big.png');
    expect(textOf(result)).toBe('{"success":true,"analysis":"a line"}');
    const data = /data:image\/jpeg;base64,([^"]+)/.exec(JSON.stringify(service.model.requests[2]?.body))?.[1] ?? '';
    expect(await sharp(Buffer.from(data, 'base64')).metadata()).toMatchObject({ width: 7900, format: 'jpeg' });
    chat.close();
  });

  it('asks the configured model where that of the session cannot read images', async () => {
    const image_url = `data:image/png;base64,${PNG}`;
    expect(await ask(image_url, seeing, 'acme/blind')).toEqual({ success: true, analysis: 'a dot' });
    expect(seeing.model.requests.map(({ body }) => body['model'])).toEqual(['blind', 'small', 'blind']);
    // The tool is not offered if no model can read images.
    expect(await ask(image_url, service, 'acme/blind')).toMatchObject({
      error: expect.stringContaining('There is no tool named vision_analyze.'),
    });
  });

  it('repeats the provider’s message if it rejects the image', async () => {
    service.model.play(
      callTool('vision_analyze', { image_url: `data:image/png;base64,${PNG}`, question: 'What?' }),
      { status: 400 },
      say('sorry'),
    );
    const chat = await service.api.openChat(await service.api.createAgent({ tools: TOOLS }));
    const { result, idle } = await look(chat, 'data:');
    expect(JSON.parse(textOf(result))).toMatchObject({ success: false, analysis: '' });
    expect(idle.payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
    chat.close();
  });
});

function hasObject(value: unknown, wanted: object): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Record<string, unknown>;
  const fits = Object.entries(wanted).every(([name, field]) =>
    typeof field === 'object' && field !== null ? hasObject(fields[name], field) : fields[name] === field,
  );
  return fits || Object.values(fields).some((inner) => hasObject(inner, wanted));
}
