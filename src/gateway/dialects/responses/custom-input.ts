import { isRecord } from '../../../platform/records.ts';

/**
 * Extracts the input of a custom tool from the arguments `{"input":"…"}` as they are streamed, split anywhere. Arguments
 * of another form are held until the end; if they contain no `input`, they are the input themselves.
 */
export type InputDecoder = {
  /** the newly decoded part of the input */
  push(text: string): string;
  /** the remaining input */
  end(): string;
};

const HEAD = /^\s*\{\s*"input"\s*:\s*"/;
const PATTERN = '{"input":"';
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '"': '"', '\\': '\\', '/': '/' };

/** Decodes the complete part of a JSON string. `rest` must wait for more text. */
function decode(source: string): { text: string; rest: string; done: boolean } {
  let text = '';
  let at = 0;
  while (at < source.length) {
    const char = source[at]!;
    if (char === '"') return { text, rest: '', done: true };
    if (char !== '\\') {
      const next = source.slice(at).search(/["\\]/);
      const end = next === -1 ? source.length : at + next;
      text += source.slice(at, end);
      at = end;
      continue;
    }
    const kind = source[at + 1];
    if (kind === undefined) break;
    if (kind !== 'u') {
      text += ESCAPES[kind] ?? kind;
      at += 2;
      continue;
    }
    const hex = source.slice(at + 2, at + 6);
    if (hex.length < 4) break;
    // Not four hex digits: keep the escape as it is.
    text += /^[0-9a-f]{4}$/i.test(hex) ? String.fromCharCode(Number.parseInt(hex, 16)) : `\\u${hex}`;
    at += 6;
  }
  return { text, rest: source.slice(at), done: false };
}

export function buildInputDecoder(): InputDecoder {
  let state: 'head' | 'string' | 'whole' | 'done' = 'head';
  let held = '';

  function take(): string {
    const { text, rest, done } = decode(held);
    held = rest;
    if (done) state = 'done';
    return text;
  }

  return {
    push(text) {
      if (state === 'done') return '';
      held += text;
      if (state === 'head') {
        const head = HEAD.exec(held);
        if (head !== null) {
          state = 'string';
          held = held.slice(head[0].length);
        } else if (!PATTERN.startsWith(held.replaceAll(/\s/g, ''))) {
          state = 'whole';
        }
      }
      return state === 'string' ? take() : '';
    },
    end() {
      if (state === 'string' || state === 'done') return '';
      try {
        const value: unknown = JSON.parse(held);
        if (isRecord(value) && typeof value['input'] === 'string') return value['input'];
        if (isRecord(value) && Object.keys(value).length === 0) return '';
      } catch {
        // not JSON: the model wrote the input directly
      }
      return held;
    },
  };
}

export function decodeInput(text: string): string {
  const decoder = buildInputDecoder();
  return decoder.push(text) + decoder.end();
}
