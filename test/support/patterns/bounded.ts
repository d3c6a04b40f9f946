/** A pattern that is not linear, on a text that is never longer than `length` characters. */
export type BoundedPattern = { file: string; source: string; length: number; why: string };

/** A pattern that is put together when the module is loaded; the functions that use it are measured instead. */
export type ListedCall = { file: string; code: string; why: string };

export const BOUNDED: readonly BoundedPattern[] = [
  {
    file: 'src/login/flow/challenge.ts',
    source: '[*•·…xX]{2}[^@·…]*@',
    length: 400,
    why: 'an address, of which ADDRESS takes at most 64 characters before the "@"',
  },
];

export const BUILT: readonly ListedCall[] = [
  {
    file: 'src/agents/tools/patch/unicode.ts',
    code: "new RegExp(PLAIN.map(([pattern]) => pattern.source).join('|'), 'gu')",
    why: 'classes of one character',
  },
  {
    file: 'src/agents/tools/redact.ts',
    code: "new RegExp(`(?<![A-Za-z0-9_-])(?:${PREFIXED})`, 'g')",
    why: 'measured as part of cleanResult',
  },
  { file: 'src/platform/http/methods.ts', code: "new RegExp(`^${steps.join('/')}$`)", why: 'paths of our own routes' },
];
