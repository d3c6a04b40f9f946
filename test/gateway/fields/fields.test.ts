import { expect, it } from 'vitest';
import { FIELD_TABLES } from '../../../src/gateway/fields/apply.ts';
import type { FieldRule } from '../../../src/gateway/fields/rule.ts';
import { FORMATS, UPSTREAMS, UPSTREAM_FORMATS, shareGateway } from '../harness.ts';

const gateway = shareGateway({
  providers: (url) => ({ own: { format: 'messages', baseUrl: url, apiKey: 'k', passThrough: true } }),
});

const said = [{ role: 'user', content: 'Hi' }];
const part = (content: object) => ({ messages: [{ role: 'user', content: [content] }] });
/** `%PDF-1.7` */
const PDF = 'JVBERi0xLjc=';
const tool = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } };

/** A body that sets the field, merged into the smallest request. */
const SAMPLES: Record<(typeof FORMATS)[number], Record<string, object>> = {
  'chat-completions': {
    models: { models: ['chat/small'] },
    'messages[].name': { messages: [{ ...said[0], name: 'ann' }] },
    'messages[].audio': { messages: [...said, { role: 'assistant', content: 'a', audio: { id: 'a' } }, ...said] },
    'messages[].content[]: file with file_id, input_audio': part({
      type: 'input_audio',
      input_audio: { data: 'UklGRg==', format: 'wav' },
    }),
    'messages[].content[]: file with a PDF as file_data': part({
      type: 'file',
      file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
    }),
    'tools[]: custom': { tools: [{ type: 'custom', custom: { name: 'c' } }] },
    stream_options: { stream: true, stream_options: { include_usage: true } },
    tools: { tools: [{ type: 'function', function: { name: 'f' } }] },
    tool_choice: { tool_choice: 'none' },
    response_format: { response_format: { type: 'json_object' } },
    reasoning: { reasoning: { effort: 'low' } },
    'reasoning.effort': { reasoning: { effort: 'low' } },
    metadata: { metadata: { a: 'b' } },
    logit_bias: { logit_bias: { 5: 1 } },
    audio: { audio: { voice: 'alloy', format: 'wav' } },
    modalities: { modalities: ['text', 'audio'] },
    functions: { functions: [{ name: 'f' }] },
    store: { store: true },
    prediction: { prediction: { type: 'content', content: 'a' } },
    web_search_options: { web_search_options: {} },
  },
  responses: {
    models: { models: ['resp/small'] },
    tools: { tools: [tool] },
    tool_choice: { tool_choice: 'none' },
    text: { text: { format: { type: 'json_object' } } },
    'input[].content[]: input_file with a PDF as file_data': {
      input: [{ role: 'user', content: [{ type: 'input_file', filename: 'a.pdf', file_data: PDF }] }],
    },
    'text.verbosity': { text: { verbosity: 'low' } },
    reasoning: { reasoning: { effort: 'low' } },
    'reasoning.effort': { reasoning: { effort: 'low' } },
    'reasoning.summary': { reasoning: { summary: 'auto' } },
    metadata: { metadata: { a: 'b' } },
    include: { include: ['reasoning.encrypted_content'] },
    'include: message.output_text.logprobs': { include: ['message.output_text.logprobs'] },
    client_metadata: { client_metadata: { a: 'b' } },
    stream_options: { stream_options: {} },
    truncation: { truncation: 'auto' },
    conversation: { conversation: 'c' },
    prompt: { prompt: { id: 'p' } },
    context_management: { context_management: [{ type: 'compaction' }] },
    moderation: { moderation: {} },
    prompt_cache_retention: { prompt_cache_retention: '24h' },
  },
  messages: {
    models: { models: ['anth/small'] },
    'messages[].content[]: server tools and their results': part({ type: 'container_upload', file_id: 'f' }),
    'messages[].content[]: document with citations': part({
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'a' },
      citations: { enabled: true },
    }),
    'messages[].content[]: document with a PDF in base64': part({
      type: 'document',
      title: 'a.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: PDF },
    }),
    'tools[]: server tools': { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    tools: { tools: [{ name: 'f', input_schema: { type: 'object' } }] },
    tool_choice: { tool_choice: { type: 'none' } },
    'tool_choice.disable_parallel_tool_use': {
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    },
    stop_sequences: { stop_sequences: ['a'] },
    thinking: { thinking: { type: 'adaptive' } },
    output_config: { output_config: { effort: 'low' } },
    'output_config.effort': { output_config: { effort: 'low' } },
    output_format: { output_format: { type: 'json_schema', schema: { type: 'object' } } },
    metadata: { metadata: { user_id: 'u' } },
    cache_control: { cache_control: { type: 'ephemeral' } },
    context_management: { context_management: { edits: [] } },
    mcp_servers: { mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'm' }] },
    container: { container: 'c' },
    thread: { thread: { type: 'create' } },
    system: { system: 'a' },
  },
};

/** Values for fields of a plain type. */
const PLAIN: Record<string, unknown> = {
  stream: true,
  parallel_tool_calls: false,
  background: true,
  store: false,
  logprobs: true,
  max_tokens: 5,
  max_completion_tokens: 5,
  max_output_tokens: 5,
  max_tool_calls: 5,
  n: 2,
  seed: 5,
  top_k: 5,
  top_logprobs: 2,
  temperature: 0.5,
  top_p: 0.5,
  frequency_penalty: 0.5,
  presence_penalty: 0.5,
  cache_ttl: '1h',
  reasoning_effort: 'low',
  verbosity: 'low',
  input: 'Hi',
  messages: said,
};

const CLIENTS = {
  'chat-completions': { path: '/v1/chat/completions', body: { messages: said } },
  responses: { path: '/v1/responses', body: { input: 'Hi' } },
  messages: { path: '/v1/messages', body: { messages: said, max_tokens: 50 } },
};
const DESTINATIONS = [...UPSTREAM_FORMATS, 'built-in'] as const;
type Destination = (typeof DESTINATIONS)[number];

function chooseModel(client: (typeof FORMATS)[number], destination: Destination, { forwarded }: FieldRule): string {
  if (destination === 'built-in') return 'script/demo';
  // It takes every field of the format.
  if (destination === 'converse') return 'rock/anthropic.claude-sonnet-4-5-20250929-v1:0';
  return client === 'messages' && destination === 'messages' && forwarded === true ? 'own/x' : UPSTREAMS[destination];
}

const ROWS = FORMATS.flatMap((client) =>
  Object.entries(FIELD_TABLES[client]).map(([field, rule]) => [client, field, rule] as const),
);

/** The treatment of the field, according to the response. */
async function observe(client: (typeof FORMATS)[number], field: string, model: string): Promise<string> {
  const sample = SAMPLES[client][field] ?? { [field]: PLAIN[field] ?? 'a' };
  const { path, body } = CLIENTS[client];
  const response = await gateway.post(path, { ...body, ...sample, model });
  const text = await response.text();
  if (response.status === 400) return text.includes(field.split(/[[.:]/, 1)[0] ?? field) ? 'refused' : text;
  if (response.status !== 200) return text;
  const ignored = response.headers.get('x-capstan-ignored-fields')?.split(', ') ?? [];
  return ignored.includes(field) ? 'ignored' : 'accepted';
}

it.each(ROWS)('the gateway treats a field of %s as its table says: %s', async (client, field, rule) => {
  const expected: string[] = [];
  const seen: string[] = [];
  for (const destination of DESTINATIONS.filter(() => field !== 'model')) {
    const fate = rule.to[destination];
    const wanted = fate === 'refused' || fate === 'ignored' ? fate : 'accepted';
    expected.push(`${destination}: ${wanted}`);
    seen.push(`${destination}: ${await observe(client, field, chooseModel(client, destination, rule))}`);
  }
  expect(seen).toEqual(expected);
});

it('fields arrive in the words of the upstream', async () => {
  const ask = async (path: string, body: object) => {
    await (await gateway.post(path, body)).text();
    return gateway.upstream.requests.at(-1)?.body;
  };
  const chat = {
    ...CLIENTS['chat-completions'].body,
    user: 'u1',
    verbosity: 'low',
    top_k: 7,
    chat_template_kwargs: { enable_thinking: false },
    service_tier: 'flex',
    metadata: { a: 'b' },
    prediction: { type: 'content', content: 'x' },
  };
  const path = CLIENTS['chat-completions'].path;
  const { messages: _messages, ...sent } = chat;
  expect(await ask(path, { ...chat, model: 'chat/small' })).toMatchObject(sent);
  expect(await ask(path, { ...chat, model: 'resp/small' })).toMatchObject({
    user: 'u1',
    text: { verbosity: 'low' },
    service_tier: 'flex',
    metadata: { a: 'b' },
  });
  expect(await ask(path, { ...chat, model: 'anth/small' })).toMatchObject({ metadata: { user_id: 'u1' }, top_k: 7 });
  const response = { ...CLIENTS.responses.body, user: 'u2', text: { verbosity: 'high' }, model: 'chat/small' };
  expect(await ask('/v1/responses', response)).toMatchObject({ user: 'u2', verbosity: 'high' });
  const long = 'u'.repeat(100);
  const message = { ...CLIENTS.messages.body, metadata: { user_id: long }, model: 'resp/small' };
  expect(await ask('/v1/messages', message)).toMatchObject({ user: expect.stringMatching(/^[0-9a-f]{64}$/) });
});

it('audio parts and custom tools pass unchanged to chat completions providers', async () => {
  const audio = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };
  const request = {
    model: 'chat/small',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hear' }, audio] }],
    tools: [{ type: 'custom', custom: { name: 'c' } }],
  };
  expect((await gateway.post('/v1/chat/completions', request)).status).toBe(200);
  expect(gateway.upstream.requests[0]?.body).toMatchObject({ messages: request.messages, tools: request.tools });
});

it('a document of the messages format gives its context and title', async () => {
  const document = {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: 'body' },
    title: 'T',
    context: 'C',
  };
  await gateway.post('/v1/messages', { ...CLIENTS.messages.body, ...part(document), model: 'chat/small' });
  expect(JSON.stringify(gateway.upstream.requests[0]?.body['messages'])).toContain('T\\n\\nC\\n\\nbody');
});

it('PDFs reach upstreams of every format', async () => {
  const url = `data:application/pdf;base64,${PDF}`;
  const forms = {
    'chat-completions': { type: 'file', file: { filename: 'a.pdf', file_data: url } },
    responses: { type: 'input_file', filename: 'a.pdf', file_data: url },
    messages: {
      type: 'document',
      title: 'a.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: PDF },
    },
  };
  for (const client of FORMATS) {
    const turns = [{ role: 'user', content: [forms[client]] }];
    for (const upstream of FORMATS) {
      const body = client === 'responses' ? { input: turns } : { messages: turns, max_tokens: 50 };
      const response = await gateway.post(CLIENTS[client].path, { ...body, model: UPSTREAMS[upstream] });
      expect(response.status).toBe(200);
      const sent = gateway.upstream.requests.at(-1)?.body;
      const messages = (sent?.['messages'] ?? sent?.['input']) as { content: object[] }[];
      expect(messages[0]?.content[0]).toMatchObject(forms[upstream]);
    }
  }
});
