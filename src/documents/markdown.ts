import TurndownService from 'turndown';

/** What of an element the rules look at. */
type Element = { nodeName: string; parentNode: Element | null; childNodes: ArrayLike<Element>; textContent: string };

const SECTIONS = ['THEAD', 'TBODY', 'TFOOT'];
const CELLS = ['TD', 'TH'];

/** HTML as Markdown: pictures are left out, every table becomes one of Markdown whose first row is its head. */
export function buildMarkdown(html: string): string {
  const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  turndown.addRule('picture', { filter: ['img'], replacement: () => '' });
  turndown.addRule('cell', { filter: ['td', 'th'], replacement: (content) => ` ${renderCell(content)} |` });
  turndown.addRule('row', {
    filter: 'tr',
    replacement: (content, node) => renderRow(content, node),
  });
  turndown.addRule('section', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content });
  turndown.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` });
  return turndown.turndown(html).trim();
}

function renderCell(content: string): string {
  return content
    .trim()
    .replaceAll('|', String.raw`\|`)
    .replaceAll(/\s*\n\s*/g, '<br>');
}

function renderRow(content: string, row: Element): string {
  const cells = Array.from(row.childNodes).filter(({ nodeName }) => CELLS.includes(nodeName));
  const rule = isHead(row) ? `\n|${' --- |'.repeat(cells.length)}` : '';
  return `\n|${content}${rule}`;
}

function isHead(row: Element): boolean {
  const parent = row.parentNode;
  if (parent === null) return false;
  const isFirst = (element: Element, among: Element) =>
    Array.from(among.childNodes).find(({ nodeName }) => !nodeName.startsWith('#')) === element;
  if (!isFirst(row, parent)) return false;
  return !SECTIONS.includes(parent.nodeName) || (parent.parentNode !== null && isFirst(parent, parent.parentNode));
}
