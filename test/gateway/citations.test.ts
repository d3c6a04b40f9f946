import { expect, it } from 'vitest';
import type { ScriptedAnswer } from '../support/model-server/server.ts';
import { FORMATS, UPSTREAMS, readFrames, shareGateway } from './harness.ts';

const gateway = shareGateway();

const url = 'https://example.com/a';
const title = 'Example';
const text = 'Water is wet.';

const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const urlCitation = { url, title, start_index: 0, end_index: 5 };
const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' };
const usage = { input_tokens: 3, output_tokens: 2 };
const annotation = { type: 'url_citation', ...urlCitation };
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const location = {
  type: 'web_search_result_location',
  url,
  title,
  cited_text: 'Water',
  encrypted_index: 'e1',
};

const ANSWERS: Record<(typeof FORMATS)[number], ScriptedAnswer> = {
  'chat-completions': {
    events: [
      chunk({ role: 'assistant', content: text }),
      chunk({ annotations: [{ type: 'url_citation', url_citation: urlCitation }] }),
      chunk({}, 'stop'),
      { data: '[DONE]' },
    ],
  },
  responses: {
    events: [
      { type: 'response.created', response: { id: 'r' } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      { type: 'response.output_text.delta', ...place, delta: text },
      { type: 'response.output_text.annotation.added', ...place, annotation_index: 0, annotation },
      {
        type: 'response.completed',
        response: {
          id: 'r',
          status: 'completed',
          output: [{ ...item, content: [{ type: 'output_text', text, annotations: [annotation] }] }],
          usage,
        },
      },
    ],
  },
  messages: {
    events: [
      { type: 'message_start', message: { id: 'm', usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: [] } },
      { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: location } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
      { type: 'message_stop' },
    ],
  },
};

const said = [{ role: 'user', content: 'Hi' }];
const CLIENTS = {
  'chat-completions': { path: '/v1/chat/completions', body: { messages: said } },
  responses: { path: '/v1/responses', body: { input: 'Hi' } },
  messages: { path: '/v1/messages', body: { messages: said, max_tokens: 50 } },
};

const PAIRS = FORMATS.flatMap((client) => FORMATS.map((upstream) => [client, upstream] as const));

/** The client's view: the entries of a whole reply, and the event of a streamed one. */
const FINDERS = {
  'chat-completions': {
    list: (body: Reply) => body.choices?.[0]?.message.annotations,
    entry: { type: 'url_citation', url_citation: { url, title } },
    event: '"annotations"',
  },
  responses: {
    list: (body: Reply) => body.output?.at(-1)?.content?.[0]?.annotations,
    entry: { type: 'url_citation', url, title },
    event: 'response.output_text.annotation.added',
  },
  messages: {
    list: (body: Reply) => body.content?.[0]?.citations,
    entry: { type: 'web_search_result_location', cited_text: 'Water', url },
    event: 'citations_delta',
  },
};
type Reply = {
  choices?: { message: { annotations?: object[] } }[];
  output?: { content?: { annotations?: object[] }[] }[];
  content?: { citations?: object[] }[];
};

it.each(PAIRS)('citations reach a %s client of a %s upstream, whole and streamed', async (client, upstream) => {
  gateway.upstream.script(() => ANSWERS[upstream]);
  const { path, body } = CLIENTS[client];
  const request = { ...body, model: UPSTREAMS[upstream] };
  const whole = (await (await gateway.post(path, request)).json()) as Reply;
  const streamed = await (await gateway.post(path, { ...request, stream: true })).text();
  const { list, entry, event } = FINDERS[client];
  expect(list(whole)).toMatchObject([entry]);
  expect(readFrames(streamed).find(({ data }) => data.includes(url))?.data).toContain(event);
});

it('sources beside the choices are citations, too', async () => {
  const events = [{ ...chunk({ content: text }, 'stop'), citations: [url] }, { data: '[DONE]' }];
  gateway.upstream.script(() => ({ events }));
  const body = { model: UPSTREAMS['chat-completions'], messages: said };
  expect(await (await gateway.post('/v1/chat/completions', body)).json()).toMatchObject({
    choices: [{ message: { annotations: [{ url_citation: { url } }] } }],
  });
});

it('reasoning is a summary where the client asks for summaries', async () => {
  const content = [
    { type: 'reasoning' as const, text: 'because' },
    { type: 'text' as const, text },
  ];
  gateway.upstream.script(() => ({ reply: { content } }));
  for (const upstream of ['chat-completions', 'messages'] as const) {
    const request = { model: UPSTREAMS[upstream], input: 'Hi', reasoning: { effort: 'low', summary: 'auto' } };
    const whole = (await (await gateway.post('/v1/responses', request)).json()) as { output: object[] };
    expect(whole.output[0]).toMatchObject({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'because' }],
      content: [],
    });
    const streamed = await (await gateway.post('/v1/responses', { ...request, stream: true })).text();
    expect(streamed).toContain('response.reasoning_summary_text.delta');
    expect(streamed).not.toContain('response.reasoning_text.delta');
  }
});
