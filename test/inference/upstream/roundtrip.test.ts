import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { UpstreamFormat } from '../../../src/inference/config.ts';
import type { AssistantPart, FinishReason, ModelReply } from '../../../src/inference/model.ts';
import { encodeBytes, encodeStream, encodeWhole } from '../../support/model-server/encode.ts';
import { buildTarget, readBytes } from '../../support/upstream.ts';

const ISSUER = 'acme/small';

const text = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 40 })
  .filter((value) => !value.trimStart().startsWith('<think'));
const name = fc.stringMatching(/^[a-z_]{1,12}$/);
const args = fc.dictionary(
  fc.string({ maxLength: 5 }),
  fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.boolean()),
  {
    maxKeys: 3,
  },
);

const textPart = text.map((value): AssistantPart => ({ type: 'text', text: value }));
const refusalPart = text.map((value): AssistantPart => ({ type: 'refusal', text: value }));
const callPart = fc
  .tuple(name, args)
  .map(([tool, input]): AssistantPart => ({ type: 'tool_call', id: '', name: tool, arguments: JSON.stringify(input) }));

function reasoning(fields: Partial<Extract<AssistantPart, { type: 'reasoning' }>>) {
  return (value: string): AssistantPart => ({ type: 'reasoning', text: value, issuer: ISSUER, ...fields });
}

/** The parts that each format can express; others have no encoding in it. */
const PARTS: Record<UpstreamFormat, fc.Arbitrary<AssistantPart>[]> = {
  'chat-completions': [
    textPart,
    refusalPart,
    callPart,
    text.map(reasoning({ signature: 'reasoning_content' })),
    text.map(reasoning({ signature: 'reasoning' })),
    text.map((value): AssistantPart => {
      const encrypted = JSON.stringify([{ type: 'reasoning.text', text: value, index: 0, signature: 's' }]);
      return { type: 'reasoning', text: value, encrypted, issuer: ISSUER };
    }),
  ],
  messages: [
    textPart,
    callPart,
    text.map(reasoning({ signature: 'c2ln' })),
    text.map((value): AssistantPart => ({ type: 'reasoning', text: '', redacted: value, issuer: ISSUER })),
  ],
  responses: [
    textPart,
    refusalPart,
    callPart,
    text.map(reasoning({ summary: true, encrypted: 'gAAA' })),
    text.map(reasoning({ encrypted: 'gAAA' })),
  ],
  converse: [
    textPart,
    callPart,
    text.map(reasoning({ signature: 'c2ln' })),
    text.map((value): AssistantPart => ({ type: 'reasoning', text: '', redacted: value, issuer: ISSUER })),
  ],
  'generate-content': [textPart, callPart, text.map(reasoning({ signature: 'thought:c2ln' }))],
};

const FINISHES: Record<UpstreamFormat, FinishReason[]> = {
  'chat-completions': ['stop', 'length', 'content_filter'],
  messages: ['stop', 'length', 'refusal'],
  responses: ['stop', 'length', 'content_filter'],
  'generate-content': ['stop', 'length', 'content_filter'],
  converse: ['stop', 'length', 'content_filter'],
};

/** Formats that join neighbours: their deltas have no boundaries between parts. */
const JOINING: readonly UpstreamFormat[] = ['chat-completions', 'generate-content'];

/** Two consecutive parts of a kind would merge. */
function joinNeighbours(parts: AssistantPart[]): AssistantPart[] {
  return parts.filter((part, index) => part.type === 'tool_call' || part.type !== parts[index - 1]?.type);
}

function numberCalls(parts: AssistantPart[]): AssistantPart[] {
  return parts.map((part, index) => (part.type === 'tool_call' ? { ...part, id: `call_${index}` } : part));
}

function decideFinish(reason: FinishReason, content: AssistantPart[]): FinishReason {
  if (reason !== 'stop') return reason;
  if (content.some((part) => part.type === 'tool_call')) return 'tool_calls';
  return content.some((part) => part.type === 'refusal') ? 'refusal' : 'stop';
}

function anyReply(format: UpstreamFormat): fc.Arbitrary<ModelReply> {
  const count = fc.nat(100_000);
  return fc
    .record({
      parts: fc.array(fc.oneof(...PARTS[format]), { minLength: 1, maxLength: 6 }),
      reason: fc.constantFrom(...FINISHES[format]),
      stopSequence: fc.option(fc.constant('END'), { nil: undefined }),
      // Every reply costs something: the first event of the messages format already counts a token.
      counts: fc.tuple(count, count, count, fc.integer({ min: 1, max: 100_000 }), count),
    })
    .map(({ parts, reason, stopSequence, counts }) => {
      const content = numberCalls(JOINING.includes(format) ? joinNeighbours(parts) : parts);
      const finish = decideFinish(reason, content);
      const [fresh, cacheRead, written, answer, thought] = counts;
      const cacheWrite = format === 'generate-content' ? 0 : written;
      return {
        id: 'reply-1',
        model: ISSUER,
        content,
        finish,
        ...((format === 'messages' || format === 'converse') && finish === 'stop' && stopSequence !== undefined
          ? { stopSequence }
          : {}),
        usage: {
          input: fresh + cacheRead + cacheWrite,
          output: answer + (format === 'converse' ? 0 : thought),
          cacheRead,
          cacheWrite,
          // Converse counts none.
          reasoning: format === 'converse' ? 0 : thought,
        },
      };
    });
}

/** The reply as it was read; Converse sends no ids, so that its own is made up. */
async function readBack(format: UpstreamFormat, chunks: Uint8Array[]): Promise<ModelReply> {
  const reply = await readBytes(buildTarget(format), chunks);
  return format === 'converse' ? { ...reply, id: 'reply-1' } : reply;
}

function cutAt(bytes: Uint8Array, cuts: number[]): Uint8Array[] {
  const points = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
  return [...points, bytes.length].map((point, index) => bytes.subarray(points[index - 1] ?? 0, point));
}

describe.each(UpstreamFormat.options)('%s upstream', (format) => {
  it('reads any reply back from a stream that is cut at any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyReply(format),
        fc.record({
          size: fc.integer({ min: 1, max: 9 }),
          newline: fc.constantFrom('\n', '\r\n', '\r'),
          head: fc.constantFrom('', '\uFEFF', ': hello\n\n'),
          cuts: fc.array(fc.nat(), { maxLength: 40 }),
        }),
        async (reply, { size, newline, head, cuts }) => {
          const bytes = encodeBytes(format, encodeStream(format, reply, size), { head, newline });
          expect(await readBack(format, cutAt(bytes, cuts))).toEqual(reply);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('reads it back from every single byte on its own', async () => {
    const [reply] = fc.sample(anyReply(format), { numRuns: 1, seed: 7 });
    if (reply === undefined) throw new Error('no sample');
    const bytes = encodeBytes(format, encodeStream(format, reply, 1));
    const single = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
    expect(await readBack(format, single)).toEqual(reply);
  });

  it('reads a reply that came whole instead of as a stream', async () => {
    const reply: ModelReply = {
      id: 'reply-1',
      model: ISSUER,
      content: [
        { type: 'text', text: 'Grüße 🌍' },
        { type: 'tool_call', id: 'call_1', name: 'weather', arguments: '{"city":"Ulm"}' },
        { type: 'tool_call', id: 'call_2', name: 'weather', arguments: '{}' },
      ],
      finish: 'tool_calls',
      usage: {
        input: 7,
        output: 3,
        cacheRead: 2,
        cacheWrite: format === 'generate-content' ? 0 : 1,
        reasoning: format === 'converse' ? 0 : 1,
      },
    };
    const bytes = Buffer.from(JSON.stringify(encodeWhole(format, reply), undefined, 2));
    expect(await readBack(format, cutAt(bytes, [1, 40, 90]))).toEqual(reply);
  });
});
