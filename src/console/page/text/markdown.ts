// Tests: test/console/text.test.ts
import { Lexer } from 'marked';
import type { Token } from 'marked';

/** Maximum number of tokens that become elements. The remaining text is shown as source. */
const MAX_TOKENS = 3000;
/** The lexer takes quadratic time for unclosed delimiters, so a long paragraph full of them is plain text. */
const DENSE_LENGTH = 3000;
const DENSE_SHARE = 0.2;
const DELIMITER = /[*_~`[\]<>!&@]/g;
/** Maximum nesting of quotes and lists at the start of one line: the lexer recurses for each level. */
const DEEP = /^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){40}/m;

export type ReadMarkdown = { tokens: readonly Token[]; rest: string };

function isDense(paragraph: string): boolean {
  if (paragraph.length < DENSE_LENGTH) return false;
  return (paragraph.match(DELIMITER)?.length ?? 0) > paragraph.length * DENSE_SHARE;
}

function listChildren(token: Token): readonly Token[] {
  const { tokens, items, header, rows } = token as {
    tokens?: Token[];
    items?: Token[];
    header?: { tokens: Token[] }[];
    rows?: { tokens: Token[] }[][];
  };
  const cells = [...(header ?? []), ...(rows ?? []).flat()].flatMap((cell) => cell.tokens);
  return [...(tokens ?? []), ...(items ?? []), ...cells];
}

/** The number of tokens in this one, including itself; stops counting above `limit`. */
function countTokens(token: Token, limit: number): number {
  const open = [token];
  let count = 0;
  for (let next = open.pop(); next !== undefined && count <= limit; next = open.pop()) {
    count += 1;
    for (const child of listChildren(next)) open.push(child);
  }
  return count;
}

/** Markdown as tokens, bounded so that no text blocks a page. The part beyond the bounds is in `rest`. */
export function readMarkdown(text: string): ReadMarkdown {
  if (DEEP.test(text) || text.split(/\n[ \t]*\n/).some(isDense)) return { tokens: [], rest: text };
  let tokens: Token[];
  try {
    tokens = new Lexer({ gfm: true }).lex(text);
  } catch {
    return { tokens: [], rest: text };
  }
  let left = MAX_TOKENS;
  const end = tokens.findIndex((token) => {
    left -= countTokens(token, left);
    return left < 0;
  });
  if (end === -1) return { tokens, rest: '' };
  return {
    tokens: tokens.slice(0, end),
    rest: tokens
      .slice(end)
      .map(({ raw }) => raw)
      .join(''),
  };
}
