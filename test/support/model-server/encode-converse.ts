import { EventStreamCodec } from '@smithy/core/event-streams';
import type { AssistantPart, ModelReply } from '../../../src/inference/model.ts';
import { groupCalls, json, pieces } from './pieces.ts';
import type { Wire, WireEvent } from './pieces.ts';

const FINISH = {
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'content_filtered',
  refusal: 'content_filtered',
};

function encodeStop(reply: ModelReply): Wire {
  const { finish, stopSequence } = reply;
  if (finish !== 'stop') return { stopReason: FINISH[finish] };
  if (stopSequence === undefined) return { stopReason: 'end_turn' };
  return { stopReason: 'stop_sequence', additionalModelResponseFields: { stop_sequence: stopSequence } };
}

function encodeUsage({ usage }: ModelReply): Wire {
  return {
    inputTokens: usage.input - usage.cacheRead - usage.cacheWrite,
    outputTokens: usage.output,
    totalTokens: usage.input + usage.output,
    cacheReadInputTokens: usage.cacheRead,
    cacheWriteInputTokens: usage.cacheWrite,
  };
}

function parseInput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Padding, as the service sends it with every event. */
const PADDING = { p: 'abcdefgh' };

function encodeDeltas(part: AssistantPart, size: number): Wire[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return pieces(part.text, size).map((text) => ({ text }));
    case 'tool_call':
      return pieces(part.arguments, size).map((input) => ({ toolUse: { input } }));
    case 'reasoning': {
      if (part.redacted !== undefined) return [{ reasoningContent: { redactedContent: part.redacted } }];
      const signature = part.signature === undefined ? [] : [{ reasoningContent: { signature: part.signature } }];
      return [...pieces(part.text, size).map((text) => ({ reasoningContent: { text } })), ...signature];
    }
  }
}

function encodeStart(part: AssistantPart, contentBlockIndex: number): WireEvent[] {
  if (part.type !== 'tool_call') return [];
  const start = { toolUse: { toolUseId: part.id, name: part.name } };
  return [json({ contentBlockIndex, start, ...PADDING }, 'contentBlockStart')];
}

export function encodeConverseStream(reply: ModelReply, size: number): WireEvent[] {
  const blocks = groupCalls(reply.content).flat();
  return [
    json({ role: 'assistant', ...PADDING }, 'messageStart'),
    ...blocks.flatMap((part, contentBlockIndex) => [
      ...encodeStart(part, contentBlockIndex),
      ...encodeDeltas(part, size).map((delta) => json({ contentBlockIndex, delta, ...PADDING }, 'contentBlockDelta')),
      json({ contentBlockIndex, ...PADDING }, 'contentBlockStop'),
    ]),
    json({ ...encodeStop(reply), ...PADDING }, 'messageStop'),
    json({ usage: encodeUsage(reply), metrics: { latencyMs: 1 }, ...PADDING }, 'metadata'),
  ];
}

function encodeBlock(part: AssistantPart): Wire {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { text: part.text };
    case 'tool_call':
      return { toolUse: { toolUseId: part.id, name: part.name, input: parseInput(part.arguments) } };
    case 'reasoning':
      if (part.redacted !== undefined) return { reasoningContent: { redactedContent: part.redacted } };
      return { reasoningContent: { reasoningText: { text: part.text, signature: part.signature } } };
  }
}

export function encodeConverseWhole(reply: ModelReply): Wire {
  return {
    output: { message: { role: 'assistant', content: reply.content.map(encodeBlock) } },
    ...encodeStop(reply),
    usage: encodeUsage(reply),
    metrics: { latencyMs: 1 },
  };
}

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()),
  (text) => Buffer.from(text),
);

/** Events as AWS's binary event stream; an event named `…Exception` becomes an exception. */
export function encodeFrames(events: readonly WireEvent[]): Buffer {
  const frames = events.map(({ event = '', data }) => {
    const isException = event.endsWith('Exception');
    const text = (value: string) => ({ type: 'string' as const, value });
    const headers = {
      ...(isException ? { ':exception-type': text(event) } : { ':event-type': text(event) }),
      ':content-type': text('application/json'),
      ':message-type': text(isException ? 'exception' : 'event'),
    };
    return codec.encode({ headers, body: Buffer.from(data) });
  });
  return Buffer.concat(frames);
}
