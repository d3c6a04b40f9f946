import type { Words } from './words/fields.ts';

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
/** These scripts prefix "the" and "and" to the word: up to three letters may precede it. */
const PREFIXED = /^[\p{Script=Hebrew}\p{Script=Arabic}]/u;
const MAX_ARTICLE = 3;
/** The most words that `…` matches. */
const MAX_GAP = 7;

/** Services that write their names with a capital inside, which splits no words. */
const NAMES = /Git(?:Hub|Lab|Ea)|LinkedIn|PayPal|OpenI[Dd]|OneLogin|FranceConnect|WhatsApp|WeChat|YouTube|BankI[Dd]/g;

const LETTERS: Readonly<Record<string, string>> = { ı: 'i', ł: 'l', ø: 'o', đ: 'd', ß: 'ss', æ: 'ae' };

/**
 * Normalizes text: lower case, without accents of Latin, Greek and Cyrillic, vowel signs of Arabic and
 * punctuation. Identifiers (`txtUserName`, `user_login`) are split into words.
 */
export function normalizeText(text: string): string {
  return text
    .replaceAll(NAMES, (name) => name.toLowerCase())
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f\u064b-\u0655]/g, '')
    .normalize('NFC')
    .replaceAll(/[ıłøđßæ]/g, (letter) => LETTERS[letter] ?? letter)
    .replaceAll(/[^\p{L}\p{N}\p{M}×✕✖]+/gu, ' ')
    .trim();
}

/** Forms of a word that match a phrase: itself, without its number, and without its article. */
function listForms(word: string): string[] {
  const bare = word.replace(/(?<!\d)\d+$/, '');
  const forms = bare === word || bare === '' ? [word] : [word, bare];
  if (!PREFIXED.test(word)) return forms;
  for (let length = 1; length <= MAX_ARTICLE && word.length - length > 1; length += 1) forms.push(word.slice(length));
  return forms;
}

type Phrase = { words: readonly string[]; isPrefix: boolean; rest: Phrase | undefined };

function readPhrase(written: string): Phrase {
  const gap = written.indexOf('…');
  const first = gap === -1 ? written : written.slice(0, gap);
  const isPrefix = first.endsWith('*');
  const words = normalizeText(isPrefix ? first.slice(0, -1) : first).split(' ');
  return { words, isPrefix, rest: gap === -1 ? undefined : readPhrase(written.slice(gap + 1)) };
}

type Text = readonly (readonly string[])[];

/** The end of a phrase that starts at a word, or -1. */
function matchAt(phrase: Phrase, text: Text, from: number): number {
  const last = phrase.words.length - 1;
  const fits = phrase.words.every((word, index) =>
    text[from + index]?.some((form) => (phrase.isPrefix && index === last ? form.startsWith(word) : form === word)),
  );
  if (!fits) return -1;
  const end = from + phrase.words.length;
  if (!phrase.rest) return end;
  for (let next = end; next <= end + MAX_GAP && next < text.length; next += 1) {
    const found = matchAt(phrase.rest, text, next);
    if (found !== -1) return found;
  }
  return -1;
}

/** Whether a normalized text contains a phrase of the topic, as whole words. */
export type Matcher = (normalized: string) => boolean;

function add(index: Map<string, Phrase[]>, key: string, phrase: Phrase): void {
  const there = index.get(key);
  if (there) there.push(phrase);
  else index.set(key, [phrase]);
}

/** Indexes phrases by their first word, or by the first two letters of a prefix. */
export function buildMatcher(topic: Words): Matcher {
  const byWord = new Map<string, Phrase[]>();
  const byStart = new Map<string, Phrase[]>();
  const unspaced = new Set<string>();
  for (const written of Object.values(topic).flatMap((line) => line.split('|'))) {
    const phrase = readPhrase(written);
    const [first = ''] = phrase.words;
    if (UNSPACED.test(written)) unspaced.add(phrase.words.join(''));
    else if (phrase.isPrefix && phrase.words.length === 1) add(byStart, first.slice(0, 2), phrase);
    else add(byWord, first, phrase);
  }
  const parts = [...unspaced];
  return (normalized) => {
    if (normalized === '') return false;
    const text = normalized.split(' ').map(listForms);
    const isThere = text.some((forms, index) =>
      forms.some((form) => {
        const phrases = [...(byWord.get(form) ?? []), ...(byStart.get(form.slice(0, 2)) ?? [])];
        return phrases.some((phrase) => matchAt(phrase, text, index) !== -1);
      }),
    );
    if (isThere || !UNSPACED.test(normalized)) return isThere;
    const packed = normalized.replaceAll(' ', '');
    return parts.some((part) => packed.includes(part));
  };
}
