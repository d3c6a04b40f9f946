import { Tokenizer } from 'htmlparser2';
import type { DocumentText } from './job.ts';
import { MAX_TEXT_CHARACTERS } from './limits.ts';

/** Elements whose content is not shown. The tokenizer knows how script and style end. */
const HIDDEN = new Set(['script', 'style', 'template', 'svg', 'math', 'iframe', 'object', 'noscript', 'select']);
const INLINE = new Set(
  'a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);
const HEADING = /^h([1-6])$/;

/**
 * The words of a page without a tree of it: headings, list items and cells are marked, the rest are paragraphs. Takes
 * time in proportion to the page, whatever is in it.
 */
export function readHtmlText(html: string): DocumentText {
  const blocks: string[] = [];
  let pieces: string[] = [];
  let mark = '';
  let title = '';
  let hidden: string | undefined;
  let inTitle = false;
  let characters = 0;

  const endBlock = () => {
    const text = pieces.join('').replaceAll(/\s+/g, ' ').trim();
    if (text !== '') blocks.push(mark + text);
    pieces = [];
    mark = '';
  };
  const take = (text: string) => {
    if (inTitle) title += title.length < 1000 ? text : '';
    else if (hidden === undefined && characters <= MAX_TEXT_CHARACTERS) {
      pieces.push(text);
      characters += text.length;
    }
  };
  const open = (name: string) => {
    if (hidden !== undefined) return;
    if (HIDDEN.has(name)) hidden = name;
    else if (name === 'title') inTitle = true;
    else if (name === 'td' || name === 'th') pieces.push(' | ');
    else if (!INLINE.has(name)) {
      endBlock();
      const level = HEADING.exec(name)?.[1];
      mark = name === 'li' ? '- ' : level === undefined ? '' : `${'#'.repeat(Number(level))} `;
    }
  };
  const close = (name: string) => {
    if (hidden === name) hidden = undefined;
    else if (name === 'title') inTitle = false;
    else if (hidden === undefined && name !== 'td' && name !== 'th' && !INLINE.has(name)) endBlock();
  };

  let name = '';
  const ignore = () => undefined;
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      ontext: (start, end) => take(html.slice(start, end)),
      ontextentity: (codepoint) => take(String.fromCodePoint(codepoint)),
      onopentagname: (start, end) => open((name = html.slice(start, Math.min(end, start + 100)).toLowerCase())),
      onselfclosingtag: () => {
        if (name === hidden) hidden = undefined;
      },
      onclosetag: (start, end) => close(html.slice(start, Math.min(end, start + 100)).toLowerCase()),
      oncdata: ignore,
      onattribdata: ignore,
      onattribentity: ignore,
      onattribend: ignore,
      onattribname: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onend: ignore,
      onopentagend: ignore,
      onprocessinginstruction: ignore,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  endBlock();
  const clean = title.replaceAll(/\s+/g, ' ').trim();
  return { text: blocks.join('\n\n'), title: clean === '' ? null : clean };
}
