import { randomInt } from 'node:crypto';

/** What a password field says of what it takes. */
export type PasswordRules = {
  /** characters; -1 without a bound */
  minLength: number;
  maxLength: number;
  /** as in HTML; empty without one */
  pattern: string;
};

const LOWER = 'abcdefghijkmnopqrstuvwxyz';
const UPPER = 'ABCDEFGHJKLMNPQRSTUVWXYZ';
const DIGITS = '23456789';
/** From the widest to none: sites differ in which they refuse, and these are refused least. */
const SYMBOLS = ['-_!@#', '-_', '-', ''];
const LENGTH = 20;
const SHORTEST = 8;
const TRIES = 20;

const pick = (alphabet: string) => alphabet[randomInt(alphabet.length)] ?? '';

function make(length: number, symbols: string): string {
  const sets = [LOWER, UPPER, DIGITS, ...(symbols === '' ? [] : [symbols])];
  const all = sets.join('');
  const characters = sets.map(pick);
  while (characters.length < length) characters.push(pick(all));
  for (let at = characters.length - 1; at > 0; at -= 1) {
    const other = randomInt(at + 1);
    [characters[at], characters[other]] = [characters[other] ?? '', characters[at] ?? ''];
  }
  // Some sites want a letter first.
  const first = characters.findIndex((character) => /[a-z]/i.test(character));
  [characters[0], characters[first]] = [characters[first] ?? '', characters[0] ?? ''];
  return characters.join('');
}

/** A password that a field takes: letters of both cases, a digit and, where it may be, a symbol. */
export function makePassword({ minLength, maxLength, pattern }: PasswordRules): string {
  const most = maxLength > 0 ? maxLength : 64;
  const length = Math.min(most, Math.max(LENGTH, minLength, SHORTEST));
  const fits = buildPatternTest(pattern);
  for (const symbols of SYMBOLS) {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const password = make(length, symbols);
      if (fits(password)) return password;
    }
  }
  return make(length, SYMBOLS[0] ?? '');
}

function buildPatternTest(pattern: string): (password: string) => boolean {
  if (pattern === '' || pattern.length > 200) return () => true;
  try {
    const expression = new RegExp(`^(?:${pattern})$`, 'u');
    return (password) => expression.test(password);
  } catch {
    // Browsers take no notice of a pattern that is none.
    return () => true;
  }
}
