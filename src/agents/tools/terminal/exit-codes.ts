const SEARCHED = { 1: 'No matches found (not an error)' };
const MEANINGS: Record<string, Record<number, string>> = {
  grep: SEARCHED,
  egrep: SEARCHED,
  fgrep: SEARCHED,
  rg: SEARCHED,
  ag: SEARCHED,
  ack: SEARCHED,
  diff: { 1: 'Files differ (not an error)' },
  cmp: { 1: 'Files differ (not an error)' },
  find: { 1: 'Some directories could not be read (partial results)' },
  test: { 1: 'Condition is false (not an error)' },
  '[': { 1: 'Condition is false (not an error)' },
  curl: {
    6: 'Could not resolve the host',
    7: 'Could not connect to the host',
    22: 'The server answered with an error status',
    28: 'The operation timed out',
  },
  git: { 1: 'Often not an error: for instance git diff found differences' },
};

/** What a non-zero exit code of the last command of a line usually means, when that is harmless or well known. */
export function explainExitCode(command: string, exitCode: number): string | undefined {
  if (exitCode === 0) return undefined;
  const last =
    command
      .split(/&&|\|\||[|;\n]/)
      .map((part) => part.trim())
      .findLast((part) => part !== '') ?? '';
  const word = last.split(/\s+/).find((part) => !/^\w+=/.test(part)) ?? '';
  return MEANINGS[word.split('/').at(-1) ?? '']?.[exitCode];
}
