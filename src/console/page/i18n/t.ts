// Tests: test/console
type Values = Record<string, string | number>;

/** `pseudo` lengthens and marks every text, which reveals untranslated texts and overflowing rows. */
const isPseudo = globalThis.localStorage?.getItem('capstan.locale') === 'pseudo';

const ACCENTS: Record<string, string> = {
  a: 'á',
  e: 'é',
  i: 'í',
  o: 'ó',
  u: 'ú',
  c: 'ç',
  n: 'ñ',
  A: 'Å',
  E: 'É',
  O: 'Ö',
};

function lengthen(text: string): string {
  const accented = text.replaceAll(/[aeioucnAEO]/g, (letter) => ACCENTS[letter] ?? letter);
  return `[${accented}${'~'.repeat(Math.ceil(text.length * 0.3))}]`;
}

/** A translated text, with `{name}` replaced by values. The English text is the key of its translations. */
export function t(text: string, values: Values = {}): string {
  const chosen = isPseudo ? lengthen(text) : text;
  return Object.entries(values).reduce((all, [name, value]) => all.replaceAll(`{${name}}`, String(value)), chosen);
}

/** `one` for 1, `many` otherwise; `{count}` is the number. */
export function tCount(count: number, one: string, many: string): string {
  return t(count === 1 ? one : many, { count: count.toLocaleString() });
}
