import { collectReply } from '../../../inference/collect.ts';
import { ModelError } from '../../../inference/model.ts';
import type { Inference, ModelMessage, ModelUsage } from '../../../inference/model.ts';
import { SUMMARY_SYSTEM } from '../../../inference/script-summary.ts';
import { cutText, pruneMessages, readText } from './prune.ts';

const TIMEOUT_MS = 120_000;
const TOKEN_CHARACTERS = 4;
/** Part of what it replaces that a summary may take, and its bounds in tokens: part of the window, and never more than. */
const BUDGET = 0.2;
const WINDOW_PART = 1 / 16;
const MAX_TOKENS = 12_000;
const MIN_TOKENS = 200;
/** Part of the window that the text to be summed up may take. */
const INPUT_PART = 0.5;
/** Characters of one message in the text to be summed up: the first bound with which all of it fits. */
const MESSAGE_BOUNDS = [50_000, 12_000, 6000, 3000, 1500, 800, 400];

export type SummaryInput = {
  /** what no summary covers yet */
  messages: readonly ModelMessage[];
  /** the summary so far, to be carried on */
  earlier: string | undefined;
  contextWindow: number;
  model: string;
};

/** The summary of the model, cut to its bounds. Throws the signal's reason, or what the call failed with. */
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

/** What can be said without a model: what was asked, which tools ran, what was said last. Always the same. Pure. */
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

/** Characters that the summary should have. */
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

/** The conversation with as much of each message as there is room for. */
function renderTranscript(messages: readonly ModelMessage[], room: number): string {
  let text = '';
  for (const bound of MESSAGE_BOUNDS) {
    text = messages.map((message) => renderMessage(message, bound)).join('\n\n');
    if (text.length <= room) return text;
  }
  return text;
}

/** The beginning and the end of a text. */
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

/** At most about so many characters: a third from the beginning, the rest from the end. */
function cutEnds(text: string, length: number): string {
  if (text.length <= length) return text;
  const first = text.slice(0, Math.floor(length / 3)).replace(/[\uD800-\uDBFF]$/, '');
  const last = text.slice(text.length - Math.floor((length * 2) / 3)).replace(/^[\uDC00-\uDFFF]/, '');
  return `${first}\n[…]\n${last}`;
}
