import { randomUUID } from 'node:crypto';
import { isRecord } from '../../../platform/records.ts';
import { invalid } from '../../gateway-error.ts';
import { isAbsent, readList, readName, readOptionalCount } from '../../dialects/fields.ts';
import { buildJsonAnswer, countTokens } from '../endpoint.ts';
import type { EndpointInput, ScriptAnswer } from '../endpoint.ts';
import { checkLength, embedWords } from './embeddings.ts';

const MAX_DOCUMENTS = 1000;
const DIMENSIONS = 1024;
/** Inputs of one moderation; each has a result of about a kilobyte. */
const MAX_MODERATED = 1000;

function readDocuments(value: unknown): string[] {
  const items = readList(value, 'documents');
  if (items.length === 0 || items.length > MAX_DOCUMENTS) {
    throw invalid('documents', `must have 1 to ${MAX_DOCUMENTS} items`);
  }
  return items.map((item, index) =>
    isRecord(item) ? readName(item['text'], `documents[${index}].text`) : readName(item, `documents[${index}]`),
  );
}

export function checkRerank({ fields }: EndpointInput): void {
  readName(fields['query'], 'query');
  readDocuments(fields['documents']);
}

/** Documents with words of the query come first. */
export function answerRerank({ fields }: EndpointInput): ScriptAnswer {
  const query = readName(fields['query'], 'query');
  const documents = readDocuments(fields['documents']);
  checkLength([query, ...documents], 'documents');
  const top = readOptionalCount(fields['top_n'], 'top_n') ?? documents.length;
  const wanted = embedWords(query, DIMENSIONS);
  const results = documents
    .map((text, index) => {
      const score = embedWords(text, DIMENSIONS).reduce((sum, value, at) => sum + value * (wanted[at] ?? 0), 0);
      const document = fields['return_documents'] === true ? { document: { text } } : {};
      return { index, relevance_score: Math.max(0, Math.min(1, score)), ...document };
    })
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, top);
  const input = countTokens(query) + documents.reduce((sum, text) => sum + countTokens(text), 0);
  const body = {
    id: randomUUID(),
    model: fields['model'],
    results,
    meta: { billed_units: { search_units: 1 }, tokens: { input_tokens: input } },
    usage: { prompt_tokens: input, total_tokens: input },
  };
  return buildJsonAnswer(body, { input, output: 0 });
}

const CATEGORIES: Record<string, RegExp | undefined> = {
  harassment: /\b(idiot|stupid|moron)\b/i,
  'harassment/threatening': undefined,
  hate: undefined,
  'hate/threatening': undefined,
  illicit: /\b(counterfeit|launder money)\b/i,
  'illicit/violent': undefined,
  'self-harm': undefined,
  'self-harm/intent': undefined,
  'self-harm/instructions': undefined,
  sexual: undefined,
  'sexual/minors': undefined,
  violence: /\b(kill|murder|bomb|stab)\b/i,
  'violence/graphic': undefined,
};

function readTexts(input: unknown): string[] {
  if (typeof input === 'string') return [input];
  const items = readList(input, 'input', 'a string or an array');
  if (items.length === 0 || items.length > MAX_MODERATED)
    throw invalid('input', `must have 1 to ${MAX_MODERATED} items`);
  if (items.every((item) => typeof item === 'string')) return items;
  const parts = items.map((item, index) => {
    if (!isRecord(item)) throw invalid(`input[${index}]`, 'must be a string or a part');
    return typeof item['text'] === 'string' ? item['text'] : '';
  });
  return [parts.join('\n')];
}

export function checkModeration({ fields }: EndpointInput): void {
  if (isAbsent(fields['input'])) throw invalid('input', 'is required');
}

/** Flags texts by a few English words. */
export function answerModeration({ fields }: EndpointInput): ScriptAnswer {
  const texts = readTexts(fields['input']);
  const results = texts.map((text) => {
    const found = Object.entries(CATEGORIES).map(([name, pattern]) => [name, pattern?.test(text) === true] as const);
    return {
      flagged: found.some(([, flagged]) => flagged),
      categories: Object.fromEntries(found),
      category_scores: Object.fromEntries(found.map(([name, flagged]) => [name, flagged ? 0.98 : 0.01])),
      category_applied_input_types: Object.fromEntries(found.map(([name]) => [name, ['text']])),
    };
  });
  const input = texts.reduce((sum, text) => sum + countTokens(text), 0);
  return buildJsonAnswer({ id: `modr-${randomUUID()}`, model: fields['model'], results }, { input, output: 0 });
}
