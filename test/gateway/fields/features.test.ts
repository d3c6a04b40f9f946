import { describe, expect, it } from 'vitest';
import { shareGateway } from '../harness.ts';

const gateway = shareGateway({
  models: { mixed: ['rock/us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'rock/meta.llama3-3-70b-instruct-v1:0'] },
  providers: (url) => ({
    plain: {
      format: 'chat-completions',
      baseUrl: url,
      apiKey: 'k',
      models: [{ id: 'small', reasoning: false }],
    },
  }),
});

const said = [{ role: 'user', content: 'Hi' }];
const CLAUDE = 'rock/us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const LLAMA = 'rock/meta.llama3-3-70b-instruct-v1:0';

const CHAT = { messages: said, reasoning_effort: 'low', top_k: 5, prompt_cache_key: 'k', cache_ttl: '1h' };
const RESPONSES = { input: 'Hi', reasoning: { effort: 'low' }, prompt_cache_key: 'k', cache_ttl: '1h' };
const MESSAGES = {
  messages: said,
  max_tokens: 5000,
  top_k: 5,
  thinking: { type: 'adaptive' },
  output_config: { effort: 'low' },
  cache_control: { type: 'ephemeral' },
};

async function listIgnored(path: string, body: object): Promise<string[]> {
  const response = await gateway.post(path, body);
  expect(response.status).toBe(200);
  return (response.headers.get('x-capstan-ignored-fields') ?? '').split(', ').filter((name) => name !== '');
}

describe('fields that the vendor of a model on Bedrock does not take are named', () => {
  it.each([
    ['/v1/chat/completions', CHAT, ['reasoning_effort', 'top_k', 'prompt_cache_key', 'cache_ttl']],
    ['/v1/responses', RESPONSES, ['prompt_cache_key', 'cache_ttl', 'reasoning.effort']],
    ['/v1/messages', MESSAGES, ['top_k', 'thinking', 'cache_control', 'output_config.effort']],
  ])('%s', async (path, body, fields) => {
    expect(await listIgnored(path, { ...body, model: CLAUDE })).toEqual([]);
    expect(await listIgnored(path, { ...body, model: LLAMA })).toEqual(fields);
    // One of the models that may answer is enough.
    expect(await listIgnored(path, { ...body, model: 'mixed' })).toEqual(fields);
  });

  it.each([
    ['rock/openai.gpt-oss-120b-1:0', ['top_k', 'prompt_cache_key', 'cache_ttl']],
    ['rock/us.amazon.nova-2-lite-v1:0', ['prompt_cache_key', 'cache_ttl']],
    ['rock/amazon.nova-pro-v1:0', ['reasoning_effort', 'prompt_cache_key', 'cache_ttl']],
    ['rock/anthropic.claude-3-5-sonnet-20241022-v2:0', ['reasoning_effort', 'prompt_cache_key', 'cache_ttl']],
  ])('for %s', async (model, fields) => {
    expect(await listIgnored('/v1/chat/completions', { ...CHAT, model })).toEqual(fields);
    const { additionalModelRequestFields: sent } = gateway.upstream.requests.at(-1)?.body ?? {};
    const text = JSON.stringify(sent ?? {});
    expect(/effort/i.test(text) || text.includes('thinking')).toBe(!fields.includes('reasoning_effort'));
    expect(/top_?k/i.test(text)).toBe(!fields.includes('top_k'));
  });
});

it('an effort is named where a model of any format takes none, unless it asks for none', async () => {
  const body = { messages: said, model: 'plain/small' };
  expect(await listIgnored('/v1/chat/completions', { ...body, reasoning_effort: 'low' })).toEqual(['reasoning_effort']);
  expect(await listIgnored('/v1/chat/completions', { ...body, reasoning_effort: 'none' })).toEqual([]);
  const messages = { ...body, max_tokens: 50, thinking: { type: 'disabled' } };
  expect(await listIgnored('/v1/messages', messages)).toEqual([]);
});
