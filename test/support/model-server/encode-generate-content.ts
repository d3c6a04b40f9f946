import type { AssistantPart, ModelReply } from '../../../src/inference/model.ts';
import { json, pieces } from './pieces.ts';
import type { Wire, WireEvent } from './pieces.ts';

const FINISH = { stop: 'STOP', tool_calls: 'STOP', length: 'MAX_TOKENS', content_filter: 'SAFETY', refusal: 'SAFETY' };

function encodeUsage({ usage }: ModelReply): Wire {
  return {
    promptTokenCount: usage.input,
    cachedContentTokenCount: usage.cacheRead,
    candidatesTokenCount: usage.output - usage.reasoning,
    thoughtsTokenCount: usage.reasoning,
    totalTokenCount: usage.input + usage.output,
  };
}

/** The format has objects only. */
function parseArguments(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}

/** A signature `call-0:…` or `text:…` comes with the part after the reasoning, any other with the reasoning itself. */
function encodePart(part: AssistantPart, before: AssistantPart | undefined, size: number): Wire[] {
  const given = before?.type === 'reasoning' ? (before.signature ?? '') : '';
  const signed = /^(?:call-\d+|text):/.test(given) ? { thoughtSignature: given.slice(given.indexOf(':') + 1) } : {};
  switch (part.type) {
    case 'text':
    case 'refusal': {
      const texts = pieces(part.text, size);
      return texts.map((text, index) => ({ text, ...(index === texts.length - 1 ? signed : {}) }));
    }
    case 'tool_call':
      return [{ functionCall: { id: part.id, name: part.name, args: parseArguments(part.arguments) }, ...signed }];
    case 'reasoning': {
      const own = part.signature?.startsWith('thought:') === true ? part.signature.slice('thought:'.length) : undefined;
      const thoughts: Wire[] = pieces(part.text, size).map((text) => ({ text, thought: true }));
      return own === undefined ? thoughts : [...thoughts, { text: '', thought: true, thoughtSignature: own }];
    }
  }
}

function encodeParts(reply: ModelReply, size: number): Wire[] {
  return reply.content.flatMap((part, index) => encodePart(part, reply.content[index - 1], size));
}

function encodeChunk(reply: ModelReply, parts: Wire[], finishReason?: string): Wire {
  const candidate = {
    content: { role: 'model', parts },
    index: 0,
    ...(finishReason === undefined ? {} : { finishReason }),
  };
  return {
    candidates: [candidate],
    usageMetadata: encodeUsage(reply),
    modelVersion: reply.model,
    responseId: reply.id,
  };
}

export function encodeGenerateContentStream(reply: ModelReply, size: number): WireEvent[] {
  return [
    ...encodeParts(reply, size).map((part) => json(encodeChunk(reply, [part]))),
    json(encodeChunk(reply, [{ text: '' }], FINISH[reply.finish])),
  ];
}

export function encodeGenerateContentWhole(reply: ModelReply): Wire {
  return encodeChunk(reply, encodeParts(reply, Number.MAX_SAFE_INTEGER), FINISH[reply.finish]);
}
