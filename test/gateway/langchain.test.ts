import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { AIMessageChunk, BaseMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UPSTREAM_FORMATS, UPSTREAMS, startGateway } from './harness.ts';
import type { TestGateway } from './harness.ts';
import { scriptLoop } from './tool-loop.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const KINDS = ['chat completions', 'responses', 'messages'] as const;

/** As in docs/clients/langchain.md. */
function openModel(kind: (typeof KINDS)[number], model: string) {
  const { url, key } = gateway;
  if (kind === 'messages') {
    return new ChatAnthropic({ model, anthropicApiUrl: url, apiKey: key, maxTokens: 500, maxRetries: 0 });
  }
  const useResponsesApi = kind === 'responses';
  return new ChatOpenAI({
    model,
    configuration: { baseURL: `${url}/v1` },
    apiKey: key,
    useResponsesApi,
    maxRetries: 0,
  });
}

const WEATHER = {
  name: 'weather',
  description: 'Tells the weather',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const;

describe.each(UPSTREAM_FORMATS)('over a %s upstream LangChain', (format) => {
  beforeEach(() => scriptLoop(gateway));

  it.each(KINDS)('runs a tool loop by %s, streamed, and counts tokens', async (kind) => {
    const model = openModel(kind, UPSTREAMS[format]).bindTools([WEATHER]);
    const messages: BaseMessage[] = [new HumanMessage('Weather?')];
    const ask = async (): Promise<AIMessageChunk> => {
      let whole: AIMessageChunk | undefined;
      for await (const chunk of await model.stream(messages)) whole = whole === undefined ? chunk : whole.concat(chunk);
      return whole!;
    };
    const first = await ask();
    expect(first.text).toBe('Let me see.');
    expect(first.tool_calls).toMatchObject([
      { id: 'call_a', name: 'weather', args: { city: 'Ulm' } },
      { id: 'call_b', name: 'weather', args: { city: 'Bonn' } },
    ]);
    messages.push(first);
    for (const { id, args } of first.tool_calls ?? []) {
      messages.push(new ToolMessage({ tool_call_id: id ?? '', content: `sunny in ${String(args['city'])}` }));
    }
    const last = await ask();
    expect(last.text).toBe('Sunny 🌞 everywhere');
    expect(JSON.stringify(last.usage_metadata)).toMatch(/"output_tokens":[1-9]/);
  });
});
