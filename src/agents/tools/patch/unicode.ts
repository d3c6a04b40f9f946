import { diffChars } from 'diff';
import { mapText } from './ranges.ts';
import type { Mapped } from './ranges.ts';

const PLAIN: [RegExp, string][] = [
  [/[\u2018\u2019\u201A\u201B\u2032]/, "'"],
  [/[\u201C\u201D\u201E\u201F\u2033]/, '"'],
  [/[\u2010-\u2015\u2212]/, '-'],
  [/\u2026/, '...'],
  [/[\p{Zs}]/u, ' '],
];
const ANY = new RegExp(PLAIN.map(([pattern]) => pattern.source).join('|'), 'gu');

function toPlain(char: string): string {
  return PLAIN.find(([pattern]) => pattern.test(char))?.[1] ?? char;
}

/** Quotes, dashes, the ellipsis and blanks as a keyboard writes them. */
export function mapPlain(text: string): Mapped {
  return mapText(text, ANY, toPlain);
}

/** `next` with the typography of `region` in all that `old` and `next` have in common. */
export function keepTypography(region: string, old: string, next: string): string {
  const mapped = mapPlain(region);
  const plainOld = mapPlain(old).text;
  if (mapped.text !== plainOld || mapped.text === region) return next;
  let at = 0;
  let result = '';
  for (const part of diffChars(plainOld, next)) {
    if (part.added) {
      result += part.value;
      continue;
    }
    const end = at + part.value.length;
    // a part that ends inside an ellipsis cannot keep it
    const whole = mapped.from[at] !== mapped.from[at - 1] && mapped.from[end] !== mapped.from[end - 1];
    if (!part.removed) {
      result += whole ? region.slice(mapped.from[at] ?? 0, mapped.to[end - 1] ?? 0) : part.value;
    }
    at = end;
  }
  return result;
}
