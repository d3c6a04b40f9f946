import { describe, expect, it } from 'vitest';
import { UPSTREAM_FORMATS, UPSTREAMS, readFrames, shareGateway } from './harness.ts';

const gateway = shareGateway();

type Item = Record<string, unknown> & { type: string };
type Response = Record<string, unknown> & { output: Item[] };

async function ask(body: object): Promise<Response> {
  const response = await gateway.post('/v1/responses', { input: 'Hi', ...body });
  const answer = (await response.json()) as Response;
  expect([response.status, answer]).toMatchObject([200, { object: 'response' }]);
  return answer;
}

const PNG = `data:image/png;base64,${Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]).toString('base64')}`;

/** Everything that the format's own schema asks for. */
const REQUIRED = [
  'id object created_at completed_at status incomplete_details model previous_response_id instructions output error tools',
  'tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature',
  'reasoning usage max_output_tokens max_tool_calls store background service_tier metadata safety_identifier',
  'prompt_cache_key output_text',
].flatMap((line) => line.split(' '));

describe.each(UPSTREAM_FORMATS)('a response over a %s upstream', (format) => {
  const model = UPSTREAMS[format];

  it('has every field of the format, reasoning first, and its text in output_text', async () => {
    const answer = await ask({ model, metadata: { a: 'b' } });
    expect(Object.keys(answer)).toEqual(expect.arrayContaining(REQUIRED));
    expect(answer).toMatchObject({ status: 'completed', model, store: false, metadata: { a: 'b' }, output_text: 'ok' });
    expect(answer).toMatchObject({ temperature: 1, top_p: 1, reasoning: { effort: 'high' } });
    expect(answer.output.map((item) => item.type)).toEqual(['reasoning', 'message']);
  });

  it('has no reasoning for the effort none', async () => {
    gateway.upstream.script(() => ({
      reply: {
        content: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'ok' },
        ],
      },
    }));
    const answer = await ask({ model, reasoning: { effort: 'none' } });
    expect(answer.output.map((item) => item.type)).toEqual(['message']);
  });

  it('streams typed events in order', async () => {
    const response = await gateway.post('/v1/responses', { model, input: 'Hi', stream: true });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const types = readFrames(await response.text()).map(({ event }) => event);
    expect(types).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
  });

  it('takes a loop of custom and namespaced tools through a round', async () => {
    const tools = [
      {
        type: 'custom',
        name: 'apply_patch',
        description: 'Patches',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
      },
      {
        type: 'namespace',
        name: 'mcp.files',
        description: 'Files',
        tools: [{ type: 'function', name: 'read file', parameters: { type: 'object' } }],
      },
    ];
    let flat = '';
    gateway.upstream.script(({ body }, number) => {
      if (number > 0) return {};
      flat = /"(mcp_files__read_file[A-Za-z0-9_]*)"/.exec(JSON.stringify(body))?.[1] ?? '';
      return {
        reply: {
          content: [
            { type: 'tool_call', id: 'call_1', name: 'apply_patch', arguments: '{"input":"*** \\"x\\"\\n"}' },
            { type: 'tool_call', id: 'call_2', name: flat, arguments: '{"path":"a"}' },
          ],
        },
      };
    });
    const first = await ask({ model, tools });
    expect(first.output.slice(1)).toEqual([
      {
        id: expect.any(String),
        type: 'custom_tool_call',
        status: 'completed',
        call_id: 'call_1',
        name: 'apply_patch',
        input: '*** "x"\n',
      },
      {
        id: expect.any(String),
        type: 'function_call',
        status: 'completed',
        call_id: 'call_2',
        name: 'read file',
        namespace: 'mcp.files',
        arguments: '{"path":"a"}',
      },
    ]);
    expect(JSON.stringify(gateway.upstream.requests[0]?.body)).toContain('Lark grammar');
    await ask({
      model,
      tools,
      input: [
        { role: 'user', content: 'Hi' },
        ...first.output,
        { type: 'custom_tool_call_output', call_id: 'call_1', output: 'done' },
        {
          type: 'function_call_output',
          call_id: 'call_2',
          output: [
            { type: 'input_text', text: 'a picture' },
            { type: 'input_image', image_url: PNG },
          ],
        },
      ],
    });
    const sent = JSON.stringify(gateway.upstream.requests[1]?.body);
    expect(sent).toContain(flat);
    expect(sent).toContain(PNG.slice(PNG.indexOf(',') + 1));
  });
});

describe('a response', () => {
  it.each([
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ store: true }, 'store'],
    [{ background: true }, 'background'],
    [{ frobnicate: 1 }, 'frobnicate'],
    [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'file_search' }] }] }, 'tools[0].tools[0].type'],
    [{ input: [{ type: 'item_reference', id: 'x' }] }, 'input[0].type'],
    [{ input: [{ type: 'tool_search_call' }] }, 'input[0].type'],
    [{ input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] }, 'input[0].content[0].type'],
    [{ input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] }, 'input[0].content[0].file_id'],
    [{ reasoning: { wishful: true } }, 'reasoning.wishful'],
    [{ text: { colour: 'red' } }, 'text.colour'],
  ])('with %j is refused as unsupported, naming %s', async (more, param) => {
    const response = await gateway.post('/v1/responses', { model: 'script/demo', input: 'Hi', ...more });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: 'unsupported_field', param } },
    ]);
  });

  it.each([
    [{ temperature: 2.1 }, 'temperature'],
    [{ top_p: 1.1 }, 'top_p'],
    [{ reasoning: { effort: 'extreme' } }, 'reasoning.effort'],
    [{ input: undefined }, 'input'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://x.test/a.png' }] }] },
      'input[0].content[0].image_url',
    ],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }] }] },
      'input[0].content[0].image_url',
    ],
    [{ model: 'blind/small', input: [{ role: 'user', content: [{ type: 'input_image', image_url: PNG }] }] }, 'model'],
    [{ input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }, 'input'],
  ])('with %j is invalid, naming %s', async (more, param) => {
    const response = await gateway.post('/v1/responses', { model: 'script/demo', input: 'Hi', ...more });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: 'invalid_request', param } },
    ]);
  });

  it('names the setting to disable in a client with its own search', async () => {
    const response = await gateway.post('/v1/responses', {
      model: 'script/demo',
      input: 'Hi',
      tools: [{ type: 'web_search' }],
    });
    expect(JSON.stringify(await response.json())).toContain('web_search = \\"disabled\\"');
  });

  it('accepts fields without an effect', async () => {
    const answer = await ask({
      model: 'script/demo',
      client_metadata: { a: 'b' },
      service_tier: 'auto',
      include: ['reasoning.encrypted_content'],
      stream_options: { include_obfuscation: false },
      reasoning: { effort: 'low', summary: 'auto' },
      text: { verbosity: 'low', format: { type: 'text' } },
      previous_response_id: null,
      store: false,
      background: false,
      user: 'u',
      safety_identifier: 's',
      truncation: 'auto',
      prompt_cache_key: 'k',
      cache_ttl: '1h',
    });
    expect(answer.status).toBe('completed');
  });

  it('is incomplete when the limit of tokens ends it', async () => {
    gateway.upstream.script(() => ({ reply: { finish: 'length' } }));
    expect(await ask({ model: 'chat/small' })).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
  });

  it.each([
    ['GET', '/v1/responses/resp_1'],
    ['DELETE', '/v1/responses/resp_1'],
    ['POST', '/v1/responses/resp_1/cancel'],
    ['GET', '/v1/responses/resp_1/input_items'],
  ])('is nowhere to be found: %s %s', async (method, path) => {
    const type = method === 'DELETE' ? { 'content-type': 'application/json' } : {};
    const headers = { authorization: `Bearer ${gateway.key}`, ...type };
    const response = await fetch(gateway.url + path, { method, headers });
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
  });
});
