import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Anthropic, APIError as AnthropicError } from '@anthropic-ai/sdk';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import type { LanguageModel } from 'ai';
import { APIError, OpenAI } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UPSTREAM_FORMATS, UPSTREAMS, startGateway } from './harness.ts';
import type { TestGateway } from './harness.ts';
import { scriptLoop } from './tool-loop.ts';

let gateway: TestGateway;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  // It warns of every unknown model name.
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  gateway = await startGateway();
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
});
afterAll(() => gateway.close());

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;
describe.each(UPSTREAM_FORMATS)('over a %s upstream', (format) => {
  const model = UPSTREAMS[format];
  beforeEach(() => scriptLoop(gateway));

  it('the openai SDK runs tools by chat completions', async () => {
    const runner = openai.chat.completions.runTools({
      model,
      stream: true,
      messages: [{ role: 'user', content: 'Weather?' }],
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'Tells the weather',
            parameters: { ...parameters, required: [...parameters.required] },
            parse: JSON.parse as (text: string) => { city: string },
            function: ({ city }: { city: string }) => `sunny in ${city}`,
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('Sunny 🌞 everywhere');
    expect(runner.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant']);
  });

  it('the openai SDK streams and resends responses', async () => {
    const tools = [{ type: 'function', name: 'weather', description: '', parameters, strict: false }] as never;
    const first = await openai.responses.stream({ model, input: 'Weather?', tools, store: false }).finalResponse();
    expect(first.output_text).toBe('Let me see.');
    const calls = first.output.filter((item) => item.type === 'function_call');
    expect(calls.map((item) => [item.call_id, item.arguments])).toEqual([
      ['call_a', '{"city":"Ulm"}'],
      ['call_b', '{"city":"Bonn"}'],
    ]);
    const second = await openai.responses.create({
      model,
      tools,
      store: false,
      input: [
        { role: 'user', content: 'Weather?' },
        ...(first.output as OpenAI.Responses.ResponseInputItem[]),
        { type: 'function_call_output', call_id: 'call_a', output: 'sunny in Ulm' },
        { type: 'function_call_output', call_id: 'call_b', output: 'sunny in Bonn' },
      ],
    });
    expect([second.status, second.output_text]).toEqual(['completed', 'Sunny 🌞 everywhere']);
  });

  it('the Anthropic SDK streams and resends messages', async () => {
    const tools = [{ name: 'weather', input_schema: { ...parameters, required: [...parameters.required] } }];
    const ask: Anthropic.MessageParam = { role: 'user', content: 'Weather?' };
    const first = await anthropic.messages.stream({ model, max_tokens: 500, messages: [ask], tools }).finalMessage();
    expect(first.stop_reason).toBe('tool_use');
    expect(first.content).toMatchObject([
      { type: 'text', text: 'Let me see.' },
      { type: 'tool_use', id: 'call_a', input: { city: 'Ulm' } },
      { type: 'tool_use', id: 'call_b', input: { city: 'Bonn' } },
    ]);
    const second = await anthropic.messages.create({
      model,
      max_tokens: 500,
      tools,
      messages: [
        ask,
        { role: 'assistant', content: first.content },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_a', content: 'sunny in Ulm' },
            { type: 'tool_result', tool_use_id: 'call_b', content: [{ type: 'text', text: 'sunny in Bonn' }] },
          ],
        },
      ],
    });
    expect(second).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: 'Sunny 🌞 everywhere' }] });
  });

  it('the openai SDK streams a response with reasoning', async () => {
    const content = [
      { type: 'reasoning', text: 'Look outside.' },
      { type: 'text', text: 'Sunny' },
    ] as const;
    gateway.upstream.script(() => ({ reply: { content: [...content] } }));
    const deltas: string[] = [];
    const stream = openai.responses.stream({ model, input: 'Weather?' });
    for await (const event of stream) {
      if (event.type.startsWith('response.reasoning') && 'delta' in event) deltas.push(event.delta);
    }
    expect(deltas.join('')).toBe('Look outside.');
    expect((await stream.finalResponse()).output_text).toBe('Sunny');
  });

  it('the tool runner of the Anthropic SDK continues without a thread', async () => {
    const weather = {
      name: 'weather',
      description: 'Tells the weather',
      input_schema: { type: 'object', properties: { city: { type: 'string' } } },
      run: async (input: unknown) => `sunny in ${(input as { city: string }).city}`,
      parse: (input: unknown) => input,
    } as const;
    const runner = anthropic.beta.messages.toolRunner({
      model,
      max_tokens: 500,
      messages: [{ role: 'user', content: 'Weather?' }],
      tools: [weather],
    });
    expect((await runner).content).toMatchObject([{ type: 'text', text: 'Sunny 🌞 everywhere' }]);
  });

  it.each(['chat', 'responses', 'messages'] as const)('the AI SDK runs tools by %s', async (kind) => {
    const options = { baseURL: `${gateway.url}/v1`, apiKey: gateway.key };
    const models: Record<typeof kind, () => LanguageModel> = {
      chat: () => createOpenAICompatible({ name: 'capstan', ...options })(model),
      responses: () => createOpenAI(options).responses(model),
      messages: () => createAnthropic(options)(model),
    };
    const weather = tool({
      description: 'Tells the weather',
      inputSchema: jsonSchema<{ city: string }>({ ...parameters, required: [...parameters.required] }),
      execute: async ({ city }) => `sunny in ${city}`,
    });
    const settings = {
      model: models[kind](),
      prompt: 'Weather?',
      tools: { weather },
      stopWhen: stepCountIs(3),
      maxRetries: 0,
      // Nothing is stored: the SDK has to send what it got.
      providerOptions: { openai: { store: false } },
    };
    expect((await generateText(settings)).text).toBe('Sunny 🌞 everywhere');
    const streamed = streamText(settings);
    expect(await streamed.text).toBe('Sunny 🌞 everywhere');
    expect((await streamed.steps).length).toBe(2);
  });
});

describe('the SDKs', () => {
  it('see errors as their own', async () => {
    const chat = openai.chat.completions.create({ model: 'nobody/none', messages: [{ role: 'user', content: 'Hi' }] });
    await expect(chat).rejects.toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
    await expect(chat).rejects.toBeInstanceOf(APIError);
    const message = anthropic.messages.create({
      model: 'nobody/none',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    await expect(message).rejects.toBeInstanceOf(AnthropicError);
    await expect(message).rejects.toMatchObject({ status: 404, error: { error: { type: 'not_found_error' } } });
  });

  it('list and find models, and count tokens', async () => {
    const names: string[] = [];
    for await (const { id } of openai.models.list()) names.push(id);
    for await (const { id, type } of anthropic.models.list()) names.push(`${type} ${id}`);
    expect(names).toEqual(['blind/small', 'script/demo', 'model blind/small', 'model script/demo']);
    expect((await openai.models.retrieve('script/demo')).id).toBe('script/demo');
    expect((await anthropic.models.retrieve('script/demo')).display_name).toBe('script/demo');
    const count = await anthropic.messages.countTokens({
      model: 'script/demo',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(count.input_tokens).toBeGreaterThan(0);
  });

  it('hear of a stream that breaks', async () => {
    gateway.upstream.script(() => ({
      reply: { content: [{ type: 'text', text: 'x'.repeat(4000) }] },
      cutAfterBytes: 3000,
    }));
    const ask = { role: 'user', content: 'Hi' } as const;
    const chat = async () => {
      const stream = await openai.chat.completions.create({ model: 'chat/small', messages: [ask], stream: true });
      const reader = stream.toReadableStream().getReader();
      while (!(await reader.read()).done);
    };
    await expect(chat()).rejects.toThrow(/cut off/);
    const message = anthropic.messages.stream({ model: 'anth/small', max_tokens: 5, messages: [ask] }).finalMessage();
    await expect(message).rejects.toThrow(/cut off/);
    const response = openai.responses.stream({ model: 'resp/small', input: 'Hi' }).finalResponse();
    await expect(response).resolves.toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('cut off') },
    });
  });
});
