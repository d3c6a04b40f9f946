import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildInferenceDocument } from '../../../src/gateway/contract/document.ts';
import {
  ChatCompletionChunk,
  CompletionChunk,
  MessageStreamEvent,
  ResponseStreamEvent,
} from '../../../src/gateway/contract/stream-events.ts';
import { startGateway } from '../harness.ts';
import type { TestGateway } from '../harness.ts';

type Content = Record<string, { schema: { $ref?: string } }>;
type Operation = { responses: Record<string, { content: Content }> };

const { paths } = buildInferenceDocument() as { paths: Record<string, Record<string, Operation>> };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const messages = [{ role: 'user', content: 'Hello' }];

test.each([
  ['/v1/chat/completions', { messages, stream_options: { include_usage: true } }, ChatCompletionChunk],
  ['/v1/completions', { prompt: 'Hello', stream_options: { include_usage: true } }, CompletionChunk],
  ['/v1/responses', { input: 'Hello', store: false }, ResponseStreamEvent],
  ['/v1/messages', { messages, max_tokens: 100 }, MessageStreamEvent],
])('every event of a stream of %s is what the document says', async (path, body, shape) => {
  const schema = paths[path]?.['post']?.responses['200']?.content['text/event-stream']?.schema;
  expect(schema).toEqual({ $ref: `#/components/schemas/${shape.meta()?.id}` });
  const response = await gateway.post(path, { model: 'script/demo', stream: true, ...body });
  const events = (await response.text()).split('\n').flatMap((line) => {
    const data = line.startsWith('data: ') ? line.slice('data: '.length) : '[DONE]';
    return data === '[DONE]' ? [] : [JSON.parse(data) as unknown];
  });
  expect(events.length).toBeGreaterThan(2);
  expect(events.map((event) => shape.safeParse(event).error)).toEqual(events.map(() => undefined));
});
