import TurndownService from 'turndown';

/** What of an element the rules look at. */
type Element = {
  nodeName: string;
  parentNode: Element | null;
  previousElementSibling: Element | null;
  childNodes: ArrayLike<Element>;
  getAttribute(name: string): string | null;
};

const SECTIONS = ['THEAD', 'TBODY', 'TFOOT'];
const CELLS = ['TD', 'TH'];

/**
 * HTML, as text or as a tree, as Markdown. Every table becomes one of Markdown whose first row is its head, but for
 * those with the role `presentation`, whose cells become paragraphs.
 */
export function buildMarkdown(html: string | object, options: { pictures: boolean } = { pictures: false }): string {
  const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  if (!options.pictures) turndown.addRule('picture', { filter: ['img'], replacement: () => '' });
  turndown.addRule('struck', { filter: ['del', 's'], replacement: (content) => `~~${content}~~` });
  turndown.addRule('cell', {
    filter: ['td', 'th'],
    replacement: (content, node) => (isLayout(node) ? `\n\n${content}\n\n` : ` ${renderCell(content)} |`),
  });
  turndown.addRule('row', {
    filter: 'tr',
    replacement: (content, node) => (isLayout(node) ? content : renderRow(content, node)),
  });
  turndown.addRule('section', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content });
  turndown.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` });
  return turndown.turndown(html).trim();
}

function isLayout(node: Element): boolean {
  let table: Element | null = node;
  while (table !== null && table.nodeName !== 'TABLE') table = table.parentNode;
  return table?.getAttribute('role') === 'presentation';
}

function renderCell(content: string): string {
  return content
    .trim()
    .replaceAll('|', String.raw`\|`)
    .replaceAll(/(?<!\s)\s*\n\s*/g, '<br>');
}

function renderRow(content: string, row: Element): string {
  const cells = Array.from(row.childNodes).filter(({ nodeName }) => CELLS.includes(nodeName));
  const rule = isHead(row) ? `\n|${' --- |'.repeat(cells.length)}` : '';
  return `\n|${content}${rule}`;
}

function isHead(row: Element): boolean {
  const { parentNode: parent } = row;
  if (parent === null || row.previousElementSibling !== null) return false;
  return !SECTIONS.includes(parent.nodeName) || parent.previousElementSibling === null;
}
