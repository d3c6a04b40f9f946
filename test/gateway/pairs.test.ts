import { fc } from '../support/property.ts';
import { describe, expect, it } from 'vitest';
import type { UpstreamFormat } from '../../src/inference/config.ts';
import { CHAT_COMPLETIONS } from '../../src/gateway/dialects/chat-completions/dialect.ts';
import { MESSAGES } from '../../src/gateway/dialects/messages/dialect.ts';
import { RESPONSES } from '../../src/gateway/dialects/responses/dialect.ts';
import type { ClientCall } from '../../src/gateway/dialects/dialect.ts';
import { buildSequencer } from '../../src/gateway/sequence.ts';
import type { ReplyEvent } from '../../src/gateway/sequence.ts';
import { collectSequence } from '../../src/gateway/sequence.ts';
import type { AssistantPart, ModelDelta, ModelReply } from '../../src/inference/model.ts';
import { encodeBytes, encodeStream } from '../support/model-server/encode.ts';
import { buildTarget, streamBytes } from '../support/upstream.ts';
import { accumulateChat, accumulateMessages, accumulateResponses } from './accumulate.ts';
import { FORMATS, UPSTREAM_FORMATS, readFrames } from './harness.ts';

const ISSUER = 'acme/small';
const MOMENT = { id: '0123456789abcdef', created: 1_700_000_000, requestId: 'req_1', now: () => 1_700_000_009 };
const said = [{ role: 'user', content: 'Hi' }];

const grep = { type: 'custom', name: 'grep', format: { type: 'text' } };
/** Requests of each format that ask for everything; the responses request has tools of every kind. */
const CLIENTS = {
  'chat-completions': {
    call: () => CHAT_COMPLETIONS.readCall({ model: ISSUER, messages: said, stream_options: { include_usage: true } }),
    accumulate: accumulateChat,
  },
  messages: {
    call: () =>
      MESSAGES.readCall({
        model: ISSUER,
        max_tokens: 100,
        messages: said,
        thinking: { type: 'enabled', budget_tokens: 2000 },
      }),
    accumulate: accumulateMessages,
  },
  responses: {
    call: () =>
      RESPONSES.readCall({
        model: ISSUER,
        input: 'Hi',
        tools: [
          grep,
          { type: 'namespace', name: 'git', description: '', tools: [{ type: 'function', name: 'log' }, grep] },
        ],
      }),
    accumulate: accumulateResponses,
  },
};

const text = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 30 })
  .filter((value) => !value.trimStart().startsWith('<think'));
const args = fc.dictionary(fc.string({ maxLength: 4 }), fc.oneof(fc.string({ unit: 'binary' }), fc.integer()), {
  maxKeys: 3,
});
const anyArguments = fc.oneof(
  args.map((value) => JSON.stringify(value)),
  fc.string({ unit: 'binary' }).map((input) => JSON.stringify({ input })),
  // Cut off, escaped differently, no JSON at all.
  fc.constantFrom(
    '',
    ' ',
    '{"input":"abc',
    '{"input":"\\ud83d\\ude00\\',
    '{ "input" : "a\\u00e9/\\/b" }',
    'plain',
    '{"city":"Ul',
    '[1]',
  ),
);
const callPart = fc
  .tuple(fc.constantFrom('weather', 'grep', 'git__log', 'git__grep'), anyArguments)
  .map(([name, input]): AssistantPart => ({ type: 'tool_call', id: '', name, arguments: input }));
const textPart = text.map((value): AssistantPart => ({ type: 'text', text: value }));
const refusalPart = text.map((value): AssistantPart => ({ type: 'refusal', text: value }));
const reasoning = (fields: object) =>
  text.map((value): AssistantPart => ({ type: 'reasoning', text: value, issuer: ISSUER, ...fields }));

const PARTS: Record<UpstreamFormat, fc.Arbitrary<AssistantPart>[]> = {
  'chat-completions': [textPart, refusalPart, callPart, callPart, reasoning({ signature: 'reasoning_content' })],
  messages: [
    textPart,
    callPart,
    callPart,
    reasoning({ signature: 'c2ln' }),
    text.map((value): AssistantPart => ({ type: 'reasoning', text: '', redacted: value, issuer: ISSUER })),
  ],
  responses: [
    textPart,
    refusalPart,
    callPart,
    callPart,
    reasoning({ summary: true, encrypted: 'gAAA' }),
    reasoning({ encrypted: 'gAAA' }),
  ],
  converse: [
    textPart,
    callPart,
    callPart,
    reasoning({ signature: 'c2ln' }),
    text.map((value): AssistantPart => ({ type: 'reasoning', text: '', redacted: value, issuer: ISSUER })),
  ],
  'generate-content': [
    textPart,
    callPart,
    callPart,
    reasoning({}),
    reasoning({ signature: 'thought:c2ln' }),
    reasoning({ signature: 'text:c2ln' }),
    reasoning({ signature: 'call-0:c2ln' }),
  ],
};

function anyReply(format: UpstreamFormat): fc.Arbitrary<ModelReply> {
  const count = fc.nat(100_000);
  return fc
    .record({
      parts: fc.array(fc.oneof(...PARTS[format]), { minLength: 0, maxLength: 6 }),
      finish: fc.constantFrom('stop' as const, 'length' as const, 'content_filter' as const, 'refusal' as const),
      stop: fc.option(fc.constant('END'), { nil: undefined }),
      counts: fc.tuple(count, count, count, count, count),
    })
    .map(({ parts, finish, stop, counts: [fresh, cacheRead, cacheWrite, output, thought] }) => ({
      id: 'reply-1',
      model: ISSUER,
      content: parts.map((part, index) => (part.type === 'tool_call' ? { ...part, id: `call_${index}` } : part)),
      finish: format === 'messages' && finish === 'content_filter' ? 'refusal' : finish,
      ...(stop === undefined ? {} : { stopSequence: stop }),
      usage: {
        input: fresh + cacheRead + cacheWrite,
        output: output + thought,
        cacheRead,
        cacheWrite,
        reasoning: thought,
      },
    }));
}

function* cut(bytes: Buffer, cuts: number[]): Generator<Uint8Array> {
  const points = [...new Set(cuts.map((each) => each % bytes.length))].sort((a, b) => a - b);
  let from = 0;
  for (const point of [...points, bytes.length]) {
    yield bytes.subarray(from, point);
    from = point;
  }
}

function readDeltas(format: UpstreamFormat, bytes: Buffer, cuts: number[]): AsyncGenerator<ModelDelta> {
  return streamBytes(buildTarget(format), cut(bytes, cuts));
}

async function writeStream(call: ClientCall, deltas: AsyncIterable<ModelDelta>): Promise<string> {
  const sequencer = buildSequencer(call);
  const frames = call.buildFrames(MOMENT);
  let stream = '';
  for await (const delta of deltas) {
    const events: ReplyEvent[] = [];
    sequencer.push(delta, events);
    stream += events.map((event) => frames.push(event)).join('');
  }
  return stream;
}

describe.each(UPSTREAM_FORMATS)('a %s upstream', (upstream) => {
  it.each(FORMATS)('gives a %s client the same answer streamed and not, cut anywhere', async (client) => {
    const { call, accumulate } = CLIENTS[client];
    await fc.assert(
      fc.asyncProperty(
        anyReply(upstream),
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        fc.array(fc.nat(), { maxLength: 30 }),
        async (reply, size, cuts, otherCuts) => {
          const bytes = encodeBytes(upstream, encodeStream(upstream, reply, size));
          const understood = call();
          const streamed = await writeStream(understood, readDeltas(upstream, bytes, cuts));
          const whole = await collectSequence(readDeltas(upstream, bytes, otherCuts), understood);
          const final: unknown = JSON.parse(JSON.stringify(understood.buildFinal(whole, MOMENT)));
          expect(accumulate(readFrames(streamed))).toEqual(final);
        },
      ),
      { numRuns: 150 },
    );
  });
});
