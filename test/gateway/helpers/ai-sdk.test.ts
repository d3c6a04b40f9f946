import { createAnthropic as createAnthropic3 } from '@ai-sdk/anthropic';
import { createOpenAI as createOpenAI3 } from '@ai-sdk/openai';
import { createOpenAICompatible as createCompatible2 } from '@ai-sdk/openai-compatible';
import * as ai6 from 'ai';
import * as ai7 from 'ai-7';
import { createAnthropic as createAnthropic4 } from 'ai-anthropic-4';
import { createOpenAI as createOpenAI4 } from 'ai-openai-4';
import { createOpenAICompatible as createCompatible3 } from 'ai-openai-compatible-3';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { UPSTREAM_FORMATS, UPSTREAMS, shareGateway } from '../harness.ts';
import { scriptLoop, scriptReasoned } from '../tool-loop.ts';

const gateway = shareGateway();
beforeAll(() => {
  // They warn of every model name that they do not know.
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
});

const Weather = z.object({ city: z.string(), sunny: z.boolean() });
const answer = { city: 'Ulm', sunny: true };
const weather = {
  description: 'Tells the weather',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }: { city: string }) => `sunny in ${city}`,
};
const providerOptions = {
  // Nothing is stored: the SDK has to send what it got.
  openai: { store: false, reasoningSummary: 'auto', forceReasoning: true },
  anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } },
};
const common = { prompt: 'Weather?', maxRetries: 0, providerOptions };

const options = () => ({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key });
const majors = [
  {
    major: 6,
    ai: ai6,
    stop: ai6.stepCountIs(3),
    models: {
      compatible: (id: string) => createCompatible2({ name: 'capstan', includeUsage: true, ...options() })(id),
      chat: (id: string) => createOpenAI3(options()).chat(id),
      responses: (id: string) => createOpenAI3(options()).responses(id),
      messages: (id: string) => createAnthropic3(options())(id),
    },
  },
  {
    major: 7,
    // Both have the same functions for what is called here; two majors never match by type.
    ai: ai7 as unknown as typeof ai6,
    stop: ai7.isStepCount(3) as unknown as ReturnType<typeof ai6.stepCountIs>,
    models: {
      compatible: (id: string) => asModel(createCompatible3({ name: 'capstan', includeUsage: true, ...options() })(id)),
      chat: (id: string) => asModel(createOpenAI4(options()).chat(id)),
      responses: (id: string) => asModel(createOpenAI4(options()).responses(id)),
      messages: (id: string) => asModel(createAnthropic4(options())(id)),
    },
  },
];

function asModel(model: ai7.LanguageModel): ai6.LanguageModel {
  return model as unknown as ai6.LanguageModel;
}

const KINDS = ['compatible', 'chat', 'responses', 'messages'] as const;
const cells = majors.flatMap((each) =>
  UPSTREAM_FORMATS.flatMap((format) => KINDS.map((kind) => ({ ...each, format, kind }))),
);

describe.each(cells)('ai $major by $kind over a $format upstream', ({ ai, stop, models, format, kind }) => {
  const open = () => models[kind](UPSTREAMS[format]);
  beforeEach(() => {
    scriptReasoned(gateway, JSON.stringify(answer));
  });

  it('shows text and reasoning, whole and streamed', async () => {
    // The client of OpenAI's own chat completions knows no reasoning.
    const reasoning = kind === 'chat' ? undefined : 'Look outside.';
    const whole = await ai.generateText({ model: open(), ...common });
    expect([whole.text, whole.reasoningText]).toEqual([JSON.stringify(answer), reasoning]);
    expect(whole.usage).toMatchObject({ inputTokens: 10, outputTokens: 5 });
    const streamed = ai.streamText({ model: open(), ...common });
    expect([await streamed.text, await streamed.reasoningText]).toEqual([JSON.stringify(answer), reasoning]);
    expect(await streamed.usage).toMatchObject({ inputTokens: 10, outputTokens: 5 });
  });

  it('gives objects, whole and streamed', async () => {
    const output = ai.Output.object({ schema: Weather });
    expect((await ai.generateText({ model: open(), ...common, output })).output).toEqual(answer);
    const streamed = ai.streamText({ model: open(), ...common, output });
    let last: unknown;
    for await (const partial of streamed.partialOutputStream) last = partial;
    expect([last, await streamed.output]).toEqual([answer, answer]);
  });

  it('runs tools, whole, streamed and by an agent', async () => {
    scriptLoop(gateway, false);
    const settings = { model: open(), tools: { weather: ai.tool(weather) }, stopWhen: stop };
    expect((await ai.generateText({ ...settings, ...common })).text).toBe('Sunny 🌞 everywhere');
    const streamed = ai.streamText({ ...settings, ...common });
    expect([await streamed.text, (await streamed.steps).length]).toEqual(['Sunny 🌞 everywhere', 2]);
    const agent = new ai.ToolLoopAgent({ ...settings, providerOptions });
    expect((await agent.generate({ prompt: 'Weather?' })).text).toBe('Sunny 🌞 everywhere');
  });
});

it.each(majors)('ai $major shows errors of the gateway as such', async ({ ai, models }) => {
  for (const kind of KINDS) {
    const call = ai.generateText({ model: models[kind]('nobody/none'), prompt: 'Hi', maxRetries: 0 });
    await expect(call).rejects.toMatchObject({ statusCode: 404, message: expect.stringContaining('nobody/none') });
  }
});
