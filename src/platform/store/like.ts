/** Text as a pattern of LIKE that means nothing but itself. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, (char) => `\\${char}`);
}
