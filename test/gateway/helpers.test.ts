import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Anthropic } from '@anthropic-ai/sdk';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { generateText } from 'ai';
import type { LanguageModel } from 'ai';
import { OpenAI } from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FORMATS, UPSTREAMS, shareGateway } from './harness.ts';

const gateway = shareGateway();
const Weather = z.object({ city: z.string(), sunny: z.boolean() });
const answer = { city: 'Ulm', sunny: true };
const ask = { role: 'user', content: 'Weather?' } as const;

let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(() => {
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
});

describe.each(FORMATS)('helpers of the SDKs over a %s upstream', (format) => {
  const model = UPSTREAMS[format];
  beforeEach(() => {
    gateway.upstream.script(() => ({
      reply: {
        content: [
          { type: 'reasoning', text: 'Look outside.' },
          { type: 'text', text: JSON.stringify(answer) },
        ],
      },
    }));
  });

  it('parse chat completions, whole and streamed', async () => {
    const request = { model, messages: [ask], response_format: zodResponseFormat(Weather, 'weather') };
    expect((await openai.chat.completions.parse(request)).choices[0]?.message.parsed).toEqual(answer);
    const streamed = await openai.chat.completions.stream(request).finalChatCompletion();
    expect(streamed.choices[0]?.message.parsed).toEqual(answer);
  });

  it('parse responses, whole and streamed', async () => {
    const request = { model, input: 'Weather?', text: { format: zodTextFormat(Weather, 'weather') } };
    expect((await openai.responses.parse(request)).output_parsed).toEqual(answer);
    expect((await openai.responses.stream(request).finalResponse()).output_parsed).toEqual(answer);
  });

  it('parse messages, and stream their thinking', async () => {
    const request = {
      model,
      max_tokens: 500,
      messages: [ask],
      output_config: { format: zodOutputFormat(Weather) },
    };
    expect((await anthropic.messages.parse(request)).parsed_output).toEqual(answer);
    const thoughts: string[] = [];
    const stream = anthropic.messages.stream({
      model,
      max_tokens: 5000,
      messages: [ask],
      thinking: { type: 'enabled', budget_tokens: 1024 },
    });
    stream.on('thinking', (delta) => thoughts.push(delta));
    expect(await stream.finalText()).toBe(JSON.stringify(answer));
    expect(thoughts.join('')).toBe('Look outside.');
  });

  it('show reasoning in the Vercel AI SDK', async () => {
    const options = { baseURL: `${gateway.url}/v1`, apiKey: gateway.key };
    const models: LanguageModel[] = [
      createOpenAICompatible({ name: 'capstan', ...options })(model),
      createOpenAI(options).responses(model),
      createAnthropic(options)(model),
    ];
    for (const each of models) {
      const { reasoningText, text } = await generateText({
        model: each,
        prompt: 'Weather?',
        maxRetries: 0,
        providerOptions: {
          openai: { store: false, reasoningSummary: 'auto', forceReasoning: true },
          anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } },
        },
      });
      expect([reasoningText, text]).toEqual(['Look outside.', JSON.stringify(answer)]);
    }
  });
});
