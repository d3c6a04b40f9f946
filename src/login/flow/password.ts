import { randomInt } from 'node:crypto';

/** Lengths that a password field accepts, in characters; -1 without a limit. */
export type PasswordLengths = { minLength: number; maxLength: number };

const LOWER = 'abcdefghijkmnopqrstuvwxyz';
const UPPER = 'ABCDEFGHJKLMNPQRSTUVWXYZ';
const DIGITS = '23456789';
/** From the largest set to none. Sites reject different symbols; these are rejected least often. */
const SYMBOLS = ['-_!@#', '-_', '-', ''];
const LENGTH = 20;
const SHORTEST = 8;
const LONGEST = 64;
/** Passwords per set of symbols. */
const TRIES = 20;

const pick = (alphabet: string) => alphabet[randomInt(alphabet.length)] ?? '';

function generate(length: number, symbols: string): string {
  const sets = [LOWER, UPPER, DIGITS, ...(symbols === '' ? [] : [symbols])];
  const all = sets.join('');
  const characters = sets.map(pick);
  while (characters.length < length) characters.push(pick(all));
  for (let at = characters.length - 1; at > 0; at -= 1) {
    const other = randomInt(at + 1);
    [characters[at], characters[other]] = [characters[other] ?? '', characters[at] ?? ''];
  }
  // Some sites require a letter first.
  const first = characters.findIndex((character) => /[a-z]/i.test(character));
  [characters[0], characters[first]] = [characters[first] ?? '', characters[0] ?? ''];
  return characters.join('');
}

/**
 * Passwords of a length that a field accepts, the strongest first: letters of both cases, a digit and, for the first
 * ones, symbols. At most 64 characters, whatever the page demands.
 */
export function generatePasswords({ minLength, maxLength }: PasswordLengths): string[] {
  const longest = maxLength > 0 ? Math.min(maxLength, LONGEST) : LONGEST;
  const length = Math.min(longest, Math.max(LENGTH, minLength, SHORTEST));
  return SYMBOLS.flatMap((symbols) => Array.from({ length: TRIES }, () => generate(length, symbols)));
}
