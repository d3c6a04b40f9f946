import { OpenAI as OpenAI6 } from 'openai';
import * as zod6 from 'openai/helpers/zod';
import { ChatCompletionStream as ChatStream6 } from 'openai/lib/ChatCompletionStream';
import { OpenAI as OpenAI7, toFile } from 'openai-7';
import { ResponsesToolRunner, runnerFunction } from 'openai-7/helpers/responses-tool-runner';
import { standardTextFormat } from 'openai-7/helpers/standard-schema';
import * as zod7 from 'openai-7/helpers/zod';
import { ChatCompletionStream as ChatStream7 } from 'openai-7/lib/ChatCompletionStream';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildWebhookHeaders, makeWebhookSecret } from '../../../src/platform/webhook-signature.ts';
import { UPSTREAM_FORMATS, UPSTREAMS, WITHOUT_REFUSALS, shareGateway } from '../harness.ts';
import { scriptLoop, scriptReasoned } from '../tool-loop.ts';

const gateway = shareGateway();
const Weather = z.object({ city: z.string(), sunny: z.boolean() });
const Place = z.object({ city: z.string() });
const answer = { city: 'Ulm', sunny: true };
const ask = { role: 'user', content: 'Weather?' } as const;
const described = { name: 'weather', description: 'Tells the weather', parameters: Place };

// Both have the same interface for what is called here; two majors of one class never match by type.
const majors = [
  { major: 6, OpenAI: OpenAI6, zod: zod6, ChatStream: ChatStream6 },
  {
    major: 7,
    OpenAI: OpenAI7 as unknown as typeof OpenAI6,
    zod: zod7 as unknown as typeof zod6,
    ChatStream: ChatStream7 as unknown as typeof ChatStream6,
  },
];

describe.each(majors)('openai $major', ({ OpenAI, zod, ChatStream }) => {
  let openai: OpenAI6;
  beforeAll(() => {
    openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  });

  describe.each(UPSTREAM_FORMATS)('over a %s upstream', (format) => {
    const model = UPSTREAMS[format];
    beforeEach(() => {
      scriptReasoned(gateway, JSON.stringify(answer));
    });

    it('chat.completions.parse, and stream with its events, usage and a copy', async () => {
      const request = { model, messages: [ask], response_format: zod.zodResponseFormat(Weather, 'weather') };
      expect((await openai.chat.completions.parse(request)).choices[0]?.message.parsed).toEqual(answer);

      const stream = openai.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
      const deltas: string[] = [];
      const done: unknown[] = [];
      stream.on('content.delta', ({ delta }) => deltas.push(delta));
      stream.on('content.done', ({ parsed }) => done.push(parsed));
      expect((await stream.finalChatCompletion()).choices[0]?.message.parsed).toEqual(answer);
      expect([deltas.join(''), done]).toEqual([JSON.stringify(answer), [answer]]);
      expect(await stream.totalUsage()).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 });

      const sent = openai.chat.completions.stream({ model, messages: [ask] }).toReadableStream();
      const copy = ChatStream.fromReadableStream(sent);
      expect(await copy.finalContent()).toBe(JSON.stringify(answer));
    });

    it('chat.completions.create with the response, and as an iterator', async () => {
      const { data, response } = await openai.chat.completions.create({ model, messages: [ask] }).withResponse();
      expect([data.choices[0]?.message.content, response.status]).toEqual([JSON.stringify(answer), 200]);
      let text = '';
      const stream = await openai.chat.completions.create({ model, messages: [ask], stream: true });
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      expect(text).toBe(JSON.stringify(answer));
    });

    it('responses.parse, and stream with its events', async () => {
      const request = { model, input: 'Weather?', text: { format: zod.zodTextFormat(Weather, 'weather') } };
      expect((await openai.responses.parse(request)).output_parsed).toEqual(answer);
      const stream = openai.responses.stream(request);
      const snapshots: string[] = [];
      stream.on('response.output_text.delta', ({ snapshot }) => snapshots.push(snapshot));
      const types: string[] = [];
      for await (const { type } of stream) types.push(type);
      expect((await stream.finalResponse()).output_parsed).toEqual(answer);
      expect(snapshots.at(-1)).toBe(JSON.stringify(answer));
      expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed']);
    });

    it.each(['auto', 'detailed'] as const)('responses.stream with %s summaries of the reasoning', async (summary) => {
      const stream = openai.responses.stream({ model, input: 'Weather?', reasoning: { effort: 'high', summary } });
      const parts: string[] = [];
      for await (const event of stream)
        if (event.type === 'response.reasoning_summary_text.delta') parts.push(event.delta);
      const [reasoning] = (await stream.finalResponse()).output;
      expect(parts.join('')).toBe('Look outside.');
      expect(reasoning).toMatchObject({ type: 'reasoning', summary: [{ text: 'Look outside.' }] });
    });

    it.each([false, true])('chat.completions.runTools, streamed: %s', async (streamed) => {
      scriptLoop(gateway, false);
      const request = {
        model,
        messages: [ask],
        tools: [zod.zodFunction({ ...described, function: ({ city }) => `sunny in ${city}` })],
      };
      const runner = streamed
        ? openai.chat.completions.runTools({ ...request, stream: true })
        : openai.chat.completions.runTools(request);
      expect(await runner.finalContent()).toBe('Sunny 🌞 everywhere');
      const roles = runner.messages.map(({ role }) => role);
      expect(roles).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant']);
    });

    it('parsed arguments of tools, whole and streamed, by chat and by responses', async () => {
      scriptLoop(gateway, false);
      const chat = { model, messages: [ask], tools: [zod.zodFunction(described)] };
      const cities = [{ city: 'Ulm' }, { city: 'Bonn' }];
      const whole = await openai.chat.completions.parse(chat);
      expect(whole.choices[0]?.message.tool_calls?.map((call) => call.function.parsed_arguments)).toEqual(cities);
      const stream = openai.chat.completions.stream(chat);
      const done: unknown[] = [];
      stream.on('tool_calls.function.arguments.done', (call) => done.push(call.parsed_arguments));
      await stream.finalChatCompletion();
      expect(done).toEqual(cities);
      const request = { model, input: 'Weather?', tools: [zod.zodResponsesFunction(described)] };
      for (const response of [
        await openai.responses.parse(request),
        await openai.responses.stream(request).finalResponse(),
      ]) {
        const calls = response.output.filter((item) => item.type === 'function_call');
        expect(calls.map((call) => call.parsed_arguments)).toEqual(cities);
      }
    });

    it('refusals', async () => {
      gateway.upstream.script(() => ({
        reply: { content: [{ type: 'refusal', text: 'I will not.' }], finish: 'refusal' },
      }));
      const request = { model, messages: [ask], response_format: zod.zodResponseFormat(Weather, 'weather') };
      const told = await openai.chat.completions.parse(request).then(
        ({ choices }) => choices[0]?.message.refusal,
        (error: Error) => error.message,
      );
      // Some formats give no text of a refusal.
      expect(told).toMatch(WITHOUT_REFUSALS.includes(format) ? /content filter/ : /^I will not\.$/);
    });
  });

  it('models, files and batches', async () => {
    const ids: string[] = [];
    for await (const { id } of openai.models.list()) ids.push(id);
    expect(ids).toContain('script/demo');
    const body = { model: 'script/demo', messages: [ask] };
    const line = JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body });
    const file = await openai.files.create({ file: await toFile(Buffer.from(line), 'a.jsonl'), purpose: 'batch' });
    expect((await openai.files.waitForProcessing(file.id)).status).toBe('processed');
    const batch = await openai.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    const output = await openai.files.content(batch.output_file_id ?? '');
    expect(await output.text()).toContain('"custom_id":"a"');
    const listed: string[] = [];
    for await (const { id } of openai.batches.list({ limit: 1 })) listed.push(id);
    expect(listed).toContain(batch.id);
  });

  it('unwraps webhooks', async () => {
    const secret = makeWebhookSecret();
    const body = JSON.stringify({ type: 'session.status_idle', data: {} });
    const timestamp = Math.floor(Date.now() / 1000);
    const headers = buildWebhookHeaders([secret], { id: 'msg_1', timestamp, body });
    expect(await openai.webhooks.unwrap(body, headers, secret)).toMatchObject({ type: 'session.status_idle' });
    await expect(openai.webhooks.unwrap(`${body} `, headers, secret)).rejects.toThrow(/signature/i);
  });
});

describe.each(UPSTREAM_FORMATS)('helpers that openai 7 alone has, over a %s upstream', (format) => {
  const model = UPSTREAMS[format];
  let openai: OpenAI7;
  beforeAll(() => {
    openai = new OpenAI7({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
  });

  it.each([{}, { stream: true }, { stream: true, eager: true }])(
    'the tool runner of responses with %o',
    async (mode) => {
      scriptLoop(gateway, false);
      const tool = zod7.zodResponsesFunction({ ...described, function: ({ city }) => `sunny in ${city}` });
      const runner = new ResponsesToolRunner({ functions: [runnerFunction(tool)] });
      const last = await runner.run(openai, { model, input: 'Weather?', store: false }, mode);
      expect(last.output_text).toBe('Sunny 🌞 everywhere');
    },
  );

  it('schemas of any library', async () => {
    gateway.upstream.script(() => ({ reply: { content: [{ type: 'text', text: JSON.stringify(answer) }] } }));
    const request = { model, input: 'Weather?', text: { format: standardTextFormat(Weather, 'weather') } };
    expect((await openai.responses.parse(request)).output_parsed).toEqual(answer);
  });
});
