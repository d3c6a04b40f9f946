import type { AssistantPart, InputPart, ModelMessage, ToolCallPart, ToolResult } from '../../../inference/model.ts';

/** Shorter results stay unchanged, in characters. */
const SHORT_RESULT = 300;
const RESULT_HEAD = 160;
const RESULT_TAIL = 80;
const SHORT_ARGUMENTS = 500;
const ARGUMENT_TEXT = 120;
const IMAGE_TOKENS = 1000;

/** Estimates four characters per token, and a flat rate per image. */
export function estimateTokens(value: unknown): number {
  let images = 0;
  const json = JSON.stringify(value, (_key, part: unknown) => {
    const { type } = (part ?? {}) as { type?: unknown };
    if (type !== 'image' && type !== 'image_url') return part;
    images += 1;
    return '';
  });
  return Math.ceil((json?.length ?? 0) / 4) + images * IMAGE_TOKENS;
}

/**
 * Shortens old messages: a long result becomes one line that describes it, repeated results are kept once, long
 * arguments are truncated and images removed. Every call keeps a result. Pure.
 */
export function pruneMessages(messages: readonly ModelMessage[]): ModelMessage[] {
  const calls = new Map<string, ToolCallPart>();
  /** how often each long result occurs in the rest */
  const left = new Map<string, number>();
  for (const message of messages) {
    if (message.role !== 'tool') continue;
    for (const result of message.results) {
      const text = readText(result.content);
      left.set(text, (left.get(text) ?? 0) + 1);
    }
  }
  const pruneResult = (result: ToolResult): ToolResult => {
    const text = readText(result.content);
    const more = (left.get(text) ?? 1) - 1;
    left.set(text, more);
    if (text.length <= SHORT_RESULT) return { ...result, content: dropImages(result.content) };
    const call = calls.get(result.callId);
    const line = more > 0 ? `[${call?.name ?? 'tool'}: the same as a later result]` : describeResult(call, text);
    return { ...result, content: [{ type: 'text', text: line }] };
  };
  return messages.map((message): ModelMessage => {
    switch (message.role) {
      case 'system':
        return message;
      case 'user':
        return { role: 'user', content: dropImages(message.content) };
      case 'assistant':
        for (const part of message.content) if (part.type === 'tool_call') calls.set(part.id, part);
        return { role: 'assistant', content: message.content.map(pruneCall) };
      case 'tool':
        return { role: 'tool', results: message.results.map(pruneResult) };
    }
  });
}

export function readText(parts: readonly InputPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '[image]')).join('\n');
}

function dropImages(parts: readonly InputPart[]): InputPart[] {
  return parts.map((part) => (part.type === 'text' ? part : { type: 'text', text: '[an image, no longer shown]' }));
}

/** `[terminal] {"command":"npm test"} -> 47 lines, 2310 characters: first words … last words` */
function describeResult(call: ToolCallPart | undefined, text: string): string {
  const what = call === undefined ? '[tool]' : `[${call.name}] ${oneLine(cutArguments(call.arguments), RESULT_HEAD)}`;
  const lines = text.split(/\r?\n|\\n/).length;
  const shown = `${oneLine(text, RESULT_HEAD)} ${oneLine(text.slice(-RESULT_TAIL), RESULT_TAIL)}`;
  return `${what} -> ${lines} lines, ${text.length} characters: ${shown}`;
}

function pruneCall(part: AssistantPart): AssistantPart {
  return part.type === 'tool_call' ? { ...part, arguments: cutArguments(part.arguments) } : part;
}

/** Truncates arguments; the result is valid JSON. */
function cutArguments(json: string): string {
  if (json.length <= SHORT_ARGUMENTS) return json;
  try {
    const cut = JSON.stringify(JSON.parse(json), (_key, value: unknown) =>
      typeof value === 'string' ? cutText(value, ARGUMENT_TEXT) : value,
    );
    return cut.length <= SHORT_ARGUMENTS * 4 ? cut : JSON.stringify({ cut: cutText(cut, SHORT_ARGUMENTS) });
  } catch {
    return JSON.stringify({ cut: cutText(json, SHORT_ARGUMENTS) });
  }
}

function oneLine(text: string, length: number): string {
  return cutText(text.replaceAll(/\s+/g, ' ').trim(), length);
}

/** Truncates to a number of UTF-16 units, without splitting a character. */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
