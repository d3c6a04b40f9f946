import { randomUUID } from 'node:crypto';
import { decideScript } from '../../../inference/script-prompt.ts';
import { isRecord } from '../../../platform/records.ts';
import { invalid } from '../../gateway-error.ts';
import { isAbsent, readList, readText } from '../../dialects/fields.ts';
import { writeData } from '../../dialects/dialect.ts';
import { buildJsonAnswer, countTokens } from '../endpoint.ts';
import type { EndpointInput, ScriptAnswer } from '../endpoint.ts';

const MAX_PROMPTS = 64;

function readPrompts(value: unknown): string[] {
  if (isAbsent(value)) return [''];
  if (typeof value === 'string') return [value];
  const items = readList(value, 'prompt', 'a string or an array');
  if (items.length === 0 || items.length > MAX_PROMPTS) throw invalid('prompt', `must have 1 to ${MAX_PROMPTS} items`);
  return items.map((item, index) => {
    if (typeof item === 'number' || Array.isArray(item)) throw invalid('prompt', 'script models read no tokens');
    return readText(item, `prompt[${index}]`);
  });
}

export function checkCompletion({ fields }: EndpointInput): void {
  const { prompt } = fields;
  if (!isAbsent(prompt) && typeof prompt !== 'string') readList(prompt, 'prompt', 'a string or an array');
}

export function answerCompletion({ fields }: EndpointInput): ScriptAnswer {
  const prompts = readPrompts(fields['prompt']);
  const texts = prompts.map((prompt) => decideScript(prompt, []).text);
  const usage = {
    input: prompts.reduce((sum, text) => sum + countTokens(text), 0),
    output: texts.reduce((sum, text) => sum + countTokens(text), 0),
  };
  const told = {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
  };
  const base = {
    id: `cmpl-${randomUUID()}`,
    object: 'text_completion',
    created: Math.floor(Date.now() / 1000),
    model: fields['model'],
  };
  const choices = texts.map((text, index) => ({ index, text, logprobs: null, finish_reason: 'stop' }));
  if (fields['stream'] !== true) return buildJsonAnswer({ ...base, choices, usage: told }, usage);
  const pieces = choices.flatMap((choice) => [
    { ...base, choices: [{ ...choice, finish_reason: null }] },
    { ...base, choices: [{ ...choice, text: '' }] },
  ]);
  const options = fields['stream_options'];
  const last = isRecord(options) && options['include_usage'] === true ? [{ ...base, choices: [], usage: told }] : [];
  const body = `${[...pieces, ...last].map(writeData).join('')}data: [DONE]\n\n`;
  return { type: 'text/event-stream', body, usage };
}
