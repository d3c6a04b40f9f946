// Tests: test/gateway/endpoints/endpoints.test.ts
import { hash } from 'node:crypto';
import type { JsonObject } from '../../dialects/dialect.ts';
import { invalid } from '../../gateway-error.ts';
import { readOptionalChoice, readOptionalCount } from '../../dialects/fields.ts';
import { buildJsonAnswer, countTokens } from '../endpoint.ts';
import type { EndpointInput, ScriptAnswer } from '../endpoint.ts';

const DIMENSIONS = 256;
const MAX_DIMENSIONS = 4096;
const MAX_INPUTS = 2048;
/** Numbers in one response: the most inputs with the usual dimensions. More would hold up every other request. */
const MAX_NUMBERS = MAX_INPUTS * DIMENSIONS;
/** Characters of all texts of one request. */
const MAX_CHARACTERS = 262_144;

/** Texts, or lists of tokens, one per embedding. */
function readInputs(input: unknown): string[] {
  const isTokens = (value: unknown) =>
    Array.isArray(value) && value.length > 0 && value.every((token) => Number.isSafeInteger(token));
  const items = typeof input === 'string' || isTokens(input) ? [input] : input;
  if (!Array.isArray(items) || items.length === 0) throw invalid('input', 'must be a string or an array');
  if (items.length > MAX_INPUTS) throw invalid('input', `must have at most ${MAX_INPUTS} items`);
  return items.map((item: unknown, index) => {
    if (typeof item === 'string' && item !== '') return item;
    if (Array.isArray(item) && isTokens(item)) return item.join(' ');
    throw invalid(`input[${index}]`, 'must be a text or an array of tokens, not empty');
  });
}

/** Throws `invalid_request` for texts that would take the built-in provider too long. */
export function checkLength(texts: readonly string[], path: string): void {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  if (characters > MAX_CHARACTERS)
    throw invalid(path, `must have at most ${MAX_CHARACTERS} characters for script models`);
}

/** A unit vector that depends on the words alone, so texts with common words are near each other. */
export function embedWords(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]) {
    const digest = hash('sha256', word, 'buffer');
    for (let at = 0; at < 8; at += 1) {
      const index = digest.readUInt16LE(at * 2) % dimensions;
      vector[index] = (vector[index] ?? 0) + ((digest[16 + at] ?? 0) % 2 === 0 ? 1 : -1);
    }
  }
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  if (length === 0) vector[0] = 1;
  return vector.map((value) => (length === 0 ? value : value / length));
}

function encode(vector: Float32Array, format: string | undefined): unknown {
  if (format !== 'base64') return [...vector];
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString('base64');
}

export function checkEmbeddings({ fields }: EndpointInput): void {
  readInputs(fields['input']);
  readOptionalChoice(fields['encoding_format'], 'encoding_format', ['float', 'base64']);
}

export function answerEmbeddings({ fields }: EndpointInput): ScriptAnswer {
  const inputs = readInputs(fields['input']);
  const dimensions = readOptionalCount(fields['dimensions'], 'dimensions') ?? DIMENSIONS;
  if (dimensions > MAX_DIMENSIONS) throw invalid('dimensions', `must be at most ${MAX_DIMENSIONS}`);
  if (dimensions * inputs.length > MAX_NUMBERS) {
    throw invalid('dimensions', `script models return at most ${MAX_NUMBERS} numbers; send fewer inputs`);
  }
  checkLength(inputs, 'input');
  const format = readOptionalChoice(fields['encoding_format'], 'encoding_format', ['float', 'base64']);
  const input = inputs.reduce((sum, text) => sum + countTokens(text), 0);
  const body: JsonObject = {
    object: 'list',
    data: inputs.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: encode(embedWords(text, dimensions), format),
    })),
    model: fields['model'],
    usage: { prompt_tokens: input, total_tokens: input },
  };
  return buildJsonAnswer(body, { input, output: 0 });
}
