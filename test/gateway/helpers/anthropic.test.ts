import { Anthropic } from '@anthropic-ai/sdk';
import { betaJSONSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import { betaZodOutputFormat, betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { UPSTREAM_FORMATS, UPSTREAMS, shareGateway } from '../harness.ts';
import { scriptLoop, scriptReasoned } from '../tool-loop.ts';

const gateway = shareGateway();
const Weather = z.object({ city: z.string(), sunny: z.boolean() });
const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, sunny: { type: 'boolean' } },
  required: ['city', 'sunny'],
  additionalProperties: false,
} as const;
const answer = { city: 'Ulm', sunny: true };
const ask = { role: 'user', content: 'Weather?' } as const;

let anthropic: Anthropic;
beforeAll(() => {
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
});

describe.each(UPSTREAM_FORMATS)('the Anthropic SDK over a %s upstream', (format) => {
  const request = { model: UPSTREAMS[format], max_tokens: 5000, messages: [ask] };
  beforeEach(() => {
    scriptReasoned(gateway, JSON.stringify(answer));
  });

  it('parses messages by every schema helper', async () => {
    for (const output of [zodOutputFormat(Weather), jsonSchemaOutputFormat(schema)]) {
      const parsed = await anthropic.messages.parse({ ...request, output_config: { format: output } });
      expect(parsed.parsed_output).toEqual(answer);
    }
    for (const output of [betaZodOutputFormat(Weather), betaJSONSchemaOutputFormat(schema)]) {
      const parsed = await anthropic.beta.messages.parse({ ...request, output_config: { format: output } });
      expect(parsed.parsed_output).toEqual(answer);
    }
  });

  it('streams text and thinking, and parses at the end', async () => {
    const thoughts: string[] = [];
    const stream = anthropic.messages.stream({ ...request, thinking: { type: 'enabled', budget_tokens: 1024 } });
    stream.on('thinking', (delta) => thoughts.push(delta));
    expect(await stream.finalText()).toBe(JSON.stringify(answer));
    expect(thoughts.join('')).toBe('Look outside.');
    const adaptive = anthropic.beta.messages.stream({ ...request, thinking: { type: 'adaptive' } });
    const types: string[] = [];
    for await (const { type } of adaptive) types.push(type);
    expect([types[0], types.at(-1)]).toEqual(['message_start', 'message_stop']);
    expect((await adaptive.finalMessage()).content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    const parsed = anthropic.messages.stream({ ...request, output_config: { format: zodOutputFormat(Weather) } });
    expect((await parsed.finalMessage()).parsed_output).toEqual(answer);
  });

  it.each([false, true])('runs tools, streamed: %s', async (stream) => {
    scriptLoop(gateway, false);
    const weather = betaZodTool({
      name: 'weather',
      description: 'Tells the weather',
      inputSchema: z.object({ city: z.string() }),
      run: ({ city }) => `sunny in ${city}`,
    });
    const runner = anthropic.beta.messages.toolRunner({ ...request, tools: [weather], stream });
    for await (const step of runner) if ('finalMessage' in step) await step.finalMessage();
    expect((await runner.done()).content).toMatchObject([{ type: 'text', text: 'Sunny 🌞 everywhere' }]);
    expect(runner.params.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  it('runs the memory tool that clients bring', async () => {
    gateway.upstream.script((_, number) =>
      number === 0
        ? {
            reply: {
              content: [
                {
                  type: 'tool_call',
                  id: 'call_m',
                  name: 'memory',
                  arguments: '{"command":"view","path":"/memories"}',
                },
              ],
            },
          }
        : { reply: { content: [{ type: 'text', text: 'It is empty.' }] } },
    );
    const none = () => 'nothing';
    const tools = [
      betaMemoryTool({
        view: () => 'an empty folder',
        create: none,
        str_replace: none,
        insert: none,
        delete: none,
        rename: none,
      }),
    ];
    const reply = await anthropic.beta.messages.toolRunner({ ...request, tools });
    expect(reply.content).toMatchObject([{ type: 'text', text: 'It is empty.' }]);
    expect(JSON.stringify(gateway.upstream.requests[0]?.body)).toContain('/memories');
    expect(JSON.stringify(gateway.upstream.requests[1]?.body)).toContain('an empty folder');
  });

  it('counts tokens', async () => {
    const { model, messages } = request;
    const stable = await anthropic.messages.countTokens({ model, messages });
    const beta = await anthropic.beta.messages.countTokens({ model, messages });
    expect([stable.input_tokens > 0, beta.input_tokens > 0]).toEqual([true, true]);
  });
});

it('lists models, and runs batches', async () => {
  const ids: string[] = [];
  for await (const { id } of anthropic.models.list({ limit: 1 })) ids.push(id);
  for await (const { id } of anthropic.beta.models.list()) ids.push(id);
  expect(ids.filter((id) => id === 'script/demo')).toHaveLength(2);
  const params = { model: 'script/demo', max_tokens: 50, messages: [ask] };
  for (const { batches } of [anthropic.messages, anthropic.beta.messages]) {
    const batch = await batches.create({ requests: [{ custom_id: 'a', params }] });
    const results = [];
    for await (const { custom_id, result } of await batches.results(batch.id)) results.push([custom_id, result.type]);
    expect(results).toEqual([['a', 'succeeded']]);
  }
});
