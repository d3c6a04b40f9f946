import { setImmediate } from 'node:timers/promises';
import { ModelError } from './model.ts';
import type { ModelDelta, ModelMessage, ModelRequest, ModelUsage } from './model.ts';
import { JUDGE_SYSTEM, judgeScript } from './script-judge.ts';
import { SUMMARY_SYSTEM, summarizeScript } from './script-summary.ts';
import { decideScript, summarizeResults } from './script-prompt.ts';
import type { ScriptReply } from './script-prompt.ts';

export const SCRIPT_PROVIDER = 'script';
export const SCRIPT_MODEL = `${SCRIPT_PROVIDER}/demo`;

const TITLE_WORDS = 6;

function textOf(message: ModelMessage | undefined): string {
  if (message?.role !== 'user' && message?.role !== 'system') return '';
  return message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** About four characters per token. */
function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

function countInput(request: ModelRequest): number {
  const characters = JSON.stringify(request.messages, (key, value: unknown) => (key === 'data' ? '' : value));
  return countTokens(request.system) + countTokens(characters) + countTokens(JSON.stringify(request.tools));
}

/** Pieces of a reply between which other work gets its turn: nothing here waits for a network. */
const PIECES_AT_ONCE = 256;

/** Splits text into pieces of up to three words, similar to the stream of a real model. */
function splitText(text: string): string[] {
  return text.match(/(?:\S+\s*|\s+){1,3}/g) ?? [];
}

function decideReply(request: ModelRequest): ScriptReply {
  const spoken = request.messages.filter((message) => message.role === 'user' || message.role === 'tool');
  const last = spoken.at(-1);
  const prompt = textOf(last);
  if (request.system.startsWith('Write a title')) {
    return { thoughts: [], calls: [], text: prompt.trim().split(/\s+/).slice(0, TITLE_WORDS).join(' ') };
  }
  if (request.system === JUDGE_SYSTEM) return { thoughts: [], calls: [], text: judgeScript(prompt) };
  if (request.system === SUMMARY_SYSTEM) return { thoughts: [], calls: [], text: summarizeScript(prompt) };
  if (last?.role === 'tool') return { thoughts: [], calls: [], text: summarizeResults(request.messages, last.results) };
  return decideScript(
    prompt,
    request.tools.map((tool) => tool.name),
  );
}

/**
 * The built-in model `script/demo`: no network, no delay, and the same reply to the same request. It executes the lines of
 * the last prompt (see `decideScript`), summarizes tool results, and echoes anything else.
 */
export async function* streamScript(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelDelta> {
  const { thoughts, calls, text, failure } = decideReply(request);
  if (failure !== undefined) throw new ModelError('invalid_request', failure);
  // The length of the conversation makes the ids unique within it.
  const turn = request.messages.length;
  yield { type: 'start', id: `script_${turn}`, model: SCRIPT_MODEL };
  let index = 0;
  for (const thought of thoughts) {
    for (const piece of splitText(thought)) {
      signal.throwIfAborted();
      yield { type: 'reasoning', index, text: piece };
    }
    index += 1;
  }
  for (const [position, piece] of splitText(text).entries()) {
    if (position % PIECES_AT_ONCE === PIECES_AT_ONCE - 1) await setImmediate();
    signal.throwIfAborted();
    yield { type: 'text', index, text: piece };
  }
  if (text !== '') index += 1;
  for (const [position, call] of calls.entries()) {
    signal.throwIfAborted();
    yield { type: 'tool_call', index, id: `call_${turn}_${position}`, name: call.name };
    yield { type: 'tool_arguments', index, text: call.arguments };
    index += 1;
  }
  const reasoning = countTokens(thoughts.join(''));
  const written = text + calls.map((call) => call.name + call.arguments).join('');
  const usage: ModelUsage = {
    input: countInput(request),
    output: countTokens(written) + reasoning,
    cacheRead: 0,
    cacheWrite: 0,
    reasoning,
  };
  yield { type: 'finish', reason: calls.length > 0 ? 'tool_calls' : 'stop', usage };
}
