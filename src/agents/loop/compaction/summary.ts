import { collectReply } from '../../../inference/collect.ts';
import { ModelError } from '../../../inference/model.ts';
import type { Inference, ModelMessage, ModelUsage } from '../../../inference/model.ts';
import { SUMMARY_SYSTEM } from '../../../inference/script-summary.ts';
import { cutText, pruneMessages, readText } from './prune.ts';

const TIMEOUT_MS = 120_000;
const TOKEN_CHARACTERS = 4;
/**
 * Size of a summary as a fraction of the text that it replaces, and its maximum: a fraction of the window, and tokens.
 */
const BUDGET = 0.2;
const WINDOW_PART = 1 / 16;
const MAX_TOKENS = 12_000;
const MIN_TOKENS = 200;
/** Maximum size of the text to summarize, as a fraction of the window. */
const INPUT_PART = 0.5;
/** Maximum characters per message in the text to summarize; the first value with which the text fits is used. */
const MESSAGE_BOUNDS = [50_000, 12_000, 6000, 3000, 1500, 800, 400];

export type SummaryInput = {
  /** the messages that no summary covers yet */
  messages: readonly ModelMessage[];
  /** the previous summary, to be extended */
  earlier: string | undefined;
  contextWindow: number;
  model: string;
};

/** The model's summary, truncated to its maximum. Throws the signal's reason, or the error of the call. */
export async function writeSummary(
  input: SummaryInput,
  inference: Inference,
  signal: AbortSignal,
): Promise<{ summary: string; used: { usage: ModelUsage; model: string } }> {
  const size = findSize(input);
  const text = renderTask(input, size);
  const request = {
    model: input.model,
    system: SUMMARY_SYSTEM,
    messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }],
    tools: [],
  };
  const timed = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const reply = await collectReply(inference.stream(request, timed));
  const said = reply.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  if (said.trim() === '') throw new ModelError('upstream', 'The summary was empty.');
  return { summary: cutText(said.trim(), size * 2), used: { usage: reply.usage, model: reply.model } };
}

/** A summary without a model: the prompts, the tools that ran, the last message. Deterministic. Pure. */
export function listSummary(input: SummaryInput): string {
  const messages = pruneMessages(input.messages);
  const asked = messages.flatMap((message) =>
    message.role === 'user' ? [`- ${cutText(readText(message.content).replaceAll(/\s+/g, ' '), 400)}`] : [],
  );
  const said = messages.flatMap((message) =>
    message.role === 'assistant' ? message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [],
  );
  const results = messages.flatMap((message) =>
    message.role === 'tool' ? message.results.map(({ content }) => `- ${cutText(readText(content), 300)}`) : [],
  );
  const section = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : [`## ${title}`, ...lines]);
  const lines = [
    ...(input.earlier === undefined ? [] : [input.earlier]),
    ...section('What the user asked', asked.slice(-10)),
    ...section('Latest results of tools', results.slice(-15)),
    ...section('What was said last', said.slice(-1)),
  ];
  return cutEnds(lines.join('\n'), findSize(input) * 2);
}

/** The target length of the summary, in characters. */
function findSize({ messages, earlier = '', contextWindow }: SummaryInput): number {
  const removed = (JSON.stringify(messages).length + earlier.length) / TOKEN_CHARACTERS;
  const most = Math.min(MAX_TOKENS, contextWindow * WINDOW_PART);
  return Math.round(Math.max(MIN_TOKENS, Math.min(removed * BUDGET + earlier.length / TOKEN_CHARACTERS, most))) * 4;
}

function renderTask(input: SummaryInput, size: number): string {
  const room = Math.floor(input.contextWindow * INPUT_PART * TOKEN_CHARACTERS);
  const transcript = cutEnds(renderTranscript(input.messages, room), room);
  const earlier =
    input.earlier === undefined
      ? []
      : [
          `The summary so far. Bring it up to date, and keep what still holds:\n<summary>\n${input.earlier}\n</summary>`,
        ];
  return [
    ...earlier,
    `The part of the conversation to sum up:\n<conversation>\n${transcript}\n</conversation>`,
    `Write at most ${Math.round(size / 6)} words.`,
  ].join('\n\n');
}

/** The conversation, with each message truncated to fit. */
function renderTranscript(messages: readonly ModelMessage[], room: number): string {
  let text = '';
  for (const bound of MESSAGE_BOUNDS) {
    text = messages.map((message) => renderMessage(message, bound)).join('\n\n');
    if (text.length <= room) return text;
  }
  return text;
}

/** The start and the end of a text. */
function cutMiddle(text: string, length: number): string {
  return text.length <= length ? text : cutEnds(text, length);
}

function renderMessage(message: ModelMessage, bound: number): string {
  switch (message.role) {
    case 'system':
    case 'user':
      return `[user] ${cutMiddle(readText(message.content), bound)}`;
    case 'assistant':
      return message.content
        .flatMap((part) => {
          if (part.type === 'tool_call') return [`[calls ${part.name}] ${cutMiddle(part.arguments, bound)}`];
          return part.type === 'text' ? [`[assistant] ${cutMiddle(part.text, bound)}`] : [];
        })
        .join('\n');
    case 'tool':
      return message.results.map(({ content }) => `[result] ${cutMiddle(readText(content), bound)}`).join('\n');
  }
}

/** Truncates to about this many characters: a third from the start, the rest from the end. */
function cutEnds(text: string, length: number): string {
  if (text.length <= length) return text;
  const first = text.slice(0, Math.floor(length / 3)).replace(/[\uD800-\uDBFF]$/, '');
  const last = text.slice(text.length - Math.floor((length * 2) / 3)).replace(/^[\uDC00-\uDFFF]/, '');
  return `${first}\n[…]\n${last}`;
}
