export type Page = { content: string; totalLines: number; shown: number };

const LINE_CAP = 2000;

/**
 * Reads a text as it streams and keeps only the lines asked for, so a big file costs no memory. A last line without a
 * newline counts like any other.
 */
export async function readPage(
  body: AsyncIterable<Uint8Array>,
  offset: number,
  limit: number,
): Promise<Page & { characters: number }> {
  const decoder = new TextDecoder('utf-8');
  const kept: string[] = [];
  let line = 0;
  let characters = 0;
  let rest = '';
  let pending = false;
  const take = (text: string): void => {
    line += 1;
    if (line < offset || line >= offset + limit) return;
    const clean = text.endsWith('\r') ? text.slice(0, -1) : text;
    const cut = clean.length > LINE_CAP ? `${clean.slice(0, LINE_CAP)}... [truncated]` : clean;
    const row = `${line}|${cut}`;
    characters += row.length + 1;
    kept.push(row);
  };
  const eat = (text: string): void => {
    if (text === '') return;
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const item of lines) take(item);
    pending = rest !== '';
    // of a line without end only what can be shown is kept
    if (rest.length > LINE_CAP * 2) rest = rest.slice(0, LINE_CAP + 1);
  };
  for await (const chunk of body) eat(decoder.decode(chunk, { stream: true }));
  eat(decoder.decode());
  if (pending) take(rest);
  return { content: kept.join('\n'), totalLines: line, shown: kept.length, characters };
}

/** The first lines of a page that have at most so many bytes together; the page itself when not even one has. */
export function fitPage<P extends Page & { characters: number }>(page: P, maxBytes: number): P {
  if (Buffer.byteLength(page.content) <= maxBytes) return page;
  const lines = page.content.split('\n');
  let shown = 0;
  let bytes = 0;
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > maxBytes) break;
    shown += 1;
  }
  if (shown === 0) return page;
  const content = lines.slice(0, shown).join('\n');
  return { ...page, content, shown, characters: content.length };
}
