import { join } from 'node:path';
import type { SearchInput, SearchResult } from '../../../src/sandbox/protocol/executor.ts';

const LINE_CAP = 500;

type Text = { text?: string; bytes?: string };
type Message = { type: string; data: { path?: Text; lines?: Text; line_number?: number | null } };

function readText(text: Text | undefined): string {
  return text?.text ?? Buffer.from(text?.bytes ?? '', 'base64').toString('utf8');
}

/** Reads ripgrep's JSON lines. A context line belongs to the page if a match of the page is near it. */
export function collectMatches(
  input: SearchInput,
  result: SearchResult,
  inPage: (index: number) => boolean,
): (line: string) => void {
  let before: SearchResult['matches'] = [];
  let lastTaken = -Infinity;
  return (line) => {
    const { type, data } = JSON.parse(line) as Message;
    if (type === 'begin') {
      before = [];
      lastTaken = -Infinity;
    }
    if (type !== 'match' && type !== 'context') return;
    const row = {
      path: join(readText(data.path)),
      line: data.line_number ?? 0,
      content: readText(data.lines)
        .replace(/\r?\n$/, '')
        .slice(0, LINE_CAP),
    };
    if (type === 'context') {
      if (row.line - lastTaken <= input.context) result.matches.push(row);
      else before = [...before, row].slice(-input.context);
      return;
    }
    if (inPage(result.totalCount)) {
      result.matches.push(...before, row);
      lastTaken = row.line;
    }
    before = [];
    result.totalCount += 1;
  };
}
