/** Arguments have passed the tool's schema; these only give them their type, and a value when they are absent. */
export function readText(input: Record<string, unknown>, name: string, absent = ''): string {
  const value = input[name];
  return typeof value === 'string' ? value : absent;
}

export function readNumber(input: Record<string, unknown>, name: string, absent: number): number {
  const value = input[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : absent;
}
