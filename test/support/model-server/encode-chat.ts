import type { AssistantPart, ModelReply } from '../../../src/inference/model.ts';
import { groupCalls, json, pieces } from './pieces.ts';
import type { Wire, WireEvent } from './pieces.ts';

const FINISH = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
  refusal: 'stop',
};

function encodeUsage({ usage }: ModelReply): Wire {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

function encodePart(part: AssistantPart, size: number): Wire[] {
  switch (part.type) {
    case 'text':
      return pieces(part.text, size).map((content) => ({ content }));
    case 'refusal':
      return pieces(part.text, size).map((refusal) => ({ refusal }));
    case 'reasoning':
      if (part.encrypted !== undefined) return [{ reasoning_details: JSON.parse(part.encrypted) as unknown }];
      return pieces(part.text, size).map((text) => ({ [part.signature ?? 'reasoning_content']: text }));
    case 'tool_call':
      return [];
  }
}

/** Opens every call of the group, then sends their arguments in turns. */
function encodeCalls(group: AssistantPart[], first: number, size: number): Wire[] {
  const calls = group.filter((part) => part.type === 'tool_call');
  const delta = (index: number, rest: Wire): Wire => ({ tool_calls: [{ index: first + index, ...rest }] });
  const opened = calls.map(({ id, name }, index) =>
    delta(index, { id, type: 'function', function: { name, arguments: '' } }),
  );
  const queues = calls.map((call) => pieces(call.arguments, size));
  const rounds = Math.max(...queues.map((queue) => queue.length));
  const filled = Array.from({ length: rounds }, (_, round) =>
    queues.flatMap((queue, index) =>
      queue[round] === undefined ? [] : [delta(index, { function: { arguments: queue[round] } })],
    ),
  );
  return [...opened, ...filled.flat()];
}

function encodeDeltas(reply: ModelReply, size: number): Wire[] {
  let calls = 0;
  return groupCalls(reply.content).flatMap((group) => {
    const [first] = group;
    if (first === undefined || first.type !== 'tool_call') return first === undefined ? [] : encodePart(first, size);
    calls += group.length;
    return encodeCalls(group, calls - group.length, size);
  });
}

export function encodeChatStream(reply: ModelReply, size: number): WireEvent[] {
  const head = { id: reply.id, object: 'chat.completion.chunk', created: 1, model: reply.model };
  const chunk = (delta: Wire, finish_reason: string | null): WireEvent =>
    json({ ...head, choices: [{ index: 0, delta, finish_reason }] });
  return [
    chunk({ role: 'assistant', content: '' }, null),
    ...encodeDeltas(reply, size).map((delta) => chunk(delta, null)),
    chunk({}, FINISH[reply.finish]),
    json({ ...head, choices: [], usage: encodeUsage(reply) }),
    { data: '[DONE]' },
  ];
}

export function encodeChatWhole(reply: ModelReply): Wire {
  const text = reply.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const calls = reply.content.flatMap((part) =>
    part.type === 'tool_call'
      ? [{ id: part.id, type: 'function', function: { name: part.name, arguments: part.arguments } }]
      : [],
  );
  const reasoning = reply.content.find((part) => part.type === 'reasoning');
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(reasoning === undefined ? {} : { [reasoning.signature ?? 'reasoning_content']: reasoning.text }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    id: reply.id,
    object: 'chat.completion',
    created: 1,
    model: reply.model,
    choices: [{ index: 0, message, finish_reason: FINISH[reply.finish] }],
    usage: encodeUsage(reply),
  };
}
