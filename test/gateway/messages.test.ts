import { describe, expect, it } from 'vitest';
import { UPSTREAM_FORMATS, UPSTREAMS, shareGateway } from './harness.ts';

const gateway = shareGateway();

const hello = (model: string, more: object = {}) => ({
  model,
  max_tokens: 50,
  messages: [{ role: 'user', content: 'Hi' }],
  ...more,
});

describe.each(UPSTREAM_FORMATS)('a message over a %s upstream', (format) => {
  it('is answered in its own shape', async () => {
    gateway.upstream.script(() => ({
      reply: { usage: { input: 10, output: 5, cacheRead: 4, cacheWrite: 1, reasoning: 2 } },
    }));
    // Gemini counts no written cache tokens, Converse no reasoning.
    const written = format === 'generate-content' ? 0 : 1;
    const response = await gateway.post('/v1/messages?beta=true', hello(UPSTREAMS[format]));
    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^msg_/),
      type: 'message',
      role: 'assistant',
      model: UPSTREAMS[format],
      content: [{ type: 'text', text: 'ok' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 6 - written,
        cache_creation_input_tokens: written,
        cache_read_input_tokens: 4,
        output_tokens: 5,
        output_tokens_details: { thinking_tokens: format === 'converse' ? 0 : 2 },
      },
    });
  });

  it('returns thinking with its signature to its issuer', async () => {
    const issuer = UPSTREAMS[format];
    const proof =
      format === 'messages' || format === 'converse'
        ? { signature: 'c2ln' }
        : { encrypted: format === 'responses' ? 'gAAA' : '[]' };
    if (format === 'chat-completions') Object.assign(proof, { signature: 'reasoning_content', encrypted: undefined });
    if (format === 'generate-content') Object.assign(proof, { signature: 'call-0:c2ln', encrypted: undefined });
    const call = { type: 'tool_call', id: 'call_1', name: 'weather', arguments: '{"city":"Ulm"}' } as const;
    const thought = { type: 'reasoning', text: 'hm', issuer, ...proof } as const;
    gateway.upstream.script((_request, number) =>
      number === 0
        ? { reply: { content: [thought, call] } }
        : { reply: { content: [{ type: 'text', text: 'sunny' }] } },
    );
    const tools = [{ name: 'weather', input_schema: { type: 'object' } }];
    const thinking = { type: 'enabled', budget_tokens: 2000 };
    const ask = (messages: unknown[]) =>
      gateway.post('/v1/messages', { model: issuer, max_tokens: 4000, thinking, tools, messages });
    const first = (await (await ask([{ role: 'user', content: 'Ulm?' }])).json()) as { content: unknown[] };
    expect(first.content).toMatchObject([
      { type: 'thinking', thinking: 'hm', signature: expect.stringMatching(/^cap1_/) },
      { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Ulm' } },
    ]);
    await ask([
      { role: 'user', content: 'Ulm?' },
      { role: 'assistant', content: first.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'sun' }] },
    ]);
    const sent = JSON.stringify(gateway.upstream.requests[1]?.body);
    const marks = {
      messages: '"signature":"c2ln"',
      responses: '"encrypted_content":"gAAA"',
      'chat-completions': '"reasoning_content":"hm"',
      'generate-content': '"thoughtSignature":"c2ln"',
      converse: '"signature":"c2ln"',
    };
    expect(sent).toContain(marks[format]);
    expect(sent).not.toContain('cap1_');
  });
});

describe('a message', () => {
  it('shows no thinking unless requested', async () => {
    gateway.upstream.script(() => ({
      reply: {
        content: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'ok' },
        ],
      },
    }));
    const response = await gateway.post('/v1/messages', hello('chat/small'));
    expect(((await response.json()) as { content: unknown }).content).toEqual([{ type: 'text', text: 'ok' }]);
  });

  it('accepts requests of coding clients: system turns, adaptive thinking, unknown fields and flags', async () => {
    const response = await gateway.post(
      '/v1/messages?beta=true',
      {
        ...hello('chat/small'),
        system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] },
          { role: 'system', content: [{ type: 'text', text: 'New rules.' }] },
        ],
        thinking: { type: 'adaptive', display: 'omitted' },
        context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
        output_config: { effort: 'high' },
        metadata: { user_id: 'u' },
        tools: [{ name: 'later', description: 'x', input_schema: { type: 'object' }, defer_loading: true }],
      },
      {
        'anthropic-beta': 'a-2025-01-01,b-2026-01-01',
        'anthropic-version': '2023-06-01',
        'x-claude-code-session-id': 's-1',
      },
    );
    expect(response.status).toBe(200);
    expect(gateway.upstream.requests[0]?.body).toMatchObject({ reasoning_effort: 'high', prompt_cache_key: 's-1' });
  });

  it.each(['2023-06-01', '2026-10-21', undefined])('may name the version %s', async (version) => {
    for (const name of ['provider-version', 'anthropic-version']) {
      const headers = {
        'x-api-key': gateway.key,
        authorization: '',
        ...(version === undefined ? {} : { [name]: version }),
      };
      expect((await gateway.post('/v1/messages', hello('script/demo'), headers)).status).toBe(200);
    }
  });

  it('has its id under the name that SDKs of the format know, too', async () => {
    for (const model of ['anth/small', 'nobody/knows']) {
      const body = { model, max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] };
      const { headers } = await gateway.post('/v1/messages', body);
      expect(headers.get('request-id')).toMatch(/^req_/);
      expect(headers.get('request-id')).toBe(headers.get('x-request-id'));
    }
  });

  it('may name no other version', async () => {
    for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
      const response = await gateway.post(path, hello('script/demo'), { 'provider-version': '2022-01-01' });
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: { type: 'invalid_request_error' } },
      ]);
    }
  });

  it.each([
    [{ max_tokens: undefined }, 'max_tokens'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages.0.role'],
    [{ messages: [{ role: 'user', content: [{ type: 'hologram' }] }] }, 'messages.0.content.0.type'],
    [{ tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'web_search_20250305'],
    [
      { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] }] },
      'no tool call',
    ],
  ])('with %j is refused, naming %s', async (more, named) => {
    const response = await gateway.post('/v1/messages', hello('script/demo', more));
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining(named) },
      request_id: response.headers.get('x-request-id'),
    });
  });

  it.for<[string, Record<string, string>, Record<string, unknown>, number, string]>([
    ['/v1/messages', { authorization: '' }, {}, 401, 'authentication_error'],
    ['/v1/messages', {}, { model: 'nobody/none' }, 404, 'not_found_error'],
    ['/v1/messages', {}, { pad: 'x'.repeat(4 * 1024 * 1024) }, 413, 'request_too_large'],
  ])('%s with %j fails by its own types', async ([path, headers, more, status, type]) => {
    const response = await gateway.post(path, hello('script/demo', more), headers);
    expect([response.status, await response.json()]).toMatchObject([status, { type: 'error', error: { type } }]);
  });
});

describe('counting tokens', () => {
  it("gives the upstream's own count where it has one", async () => {
    gateway.upstream.script(() => ({ body: '{"input_tokens":42}' }));
    const response = await gateway.post('/v1/messages/count_tokens', hello('anth/small'));
    expect(await response.json()).toEqual({ input_tokens: 42 });
    expect(response.headers.get('x-token-count')).toBe(null);
    expect(gateway.upstream.requests[0]).toMatchObject({ path: '/v1/messages/count_tokens', body: { model: 'small' } });
    expect(gateway.upstream.requests[0]?.body).not.toHaveProperty('max_tokens');
  });

  it('estimates elsewhere, and where the upstream fails, and says so', async () => {
    gateway.upstream.script(() => ({ status: 404, body: '{"error":"no such route"}' }));
    for (const model of ['anth/small', 'chat/small', 'script/demo']) {
      const response = await gateway.post('/v1/messages/count_tokens', {
        model,
        messages: [{ role: 'user', content: 'Hi' }],
      });
      const { input_tokens: count } = (await response.json()) as { input_tokens: number };
      expect(count).toBeGreaterThan(0);
      expect(response.headers.get('x-token-count')).toBe('estimate');
    }
  });
});

it('a cache is asked to last as long as the upstream can', async () => {
  const body = { model: 'anth/small', messages: [{ role: 'user', content: 'Hi' }], prompt_cache_key: 'k' };
  for (const [ttl, mark] of [
    ['5m', { type: 'ephemeral' }],
    ['24h', { type: 'ephemeral', ttl: '1h' }],
  ] as const) {
    await gateway.post('/v1/chat/completions', { ...body, cache_ttl: ttl });
    expect(gateway.upstream.requests.at(-1)?.body).toMatchObject({
      messages: [{ content: [{ type: 'text', text: 'Hi', cache_control: mark }] }],
    });
  }
});

it('rejects a thread on a translated upstream with the code that SDKs handle', async () => {
  const thread = { type: 'continue', previous_message_id: 'msg_1' };
  const messages = [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'sun' }] }];
  const response = await gateway.post('/v1/messages', { model: 'chat/small', max_tokens: 9, messages, thread });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    type: 'error',
    error: {
      type: 'invalid_request_error',
      details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    },
  });
  expect(gateway.upstream.requests).toEqual([]);
});
