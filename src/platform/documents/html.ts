import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { readHtmlText } from './html-text.ts';
import type { DocumentText } from './job.ts';
import { buildMarkdown } from './markdown.ts';

/** The little of the DOM that is used here. */
export type HtmlElement = {
  nodeName: string;
  textContent: string;
  firstChild: HtmlElement | null;
  nextSibling: HtmlElement | null;
  parentNode: HtmlElement | null;
  childNodes: ArrayLike<HtmlElement>;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  querySelector(selector: string): HtmlElement | null;
  querySelectorAll(selector: string): ArrayLike<HtmlElement>;
  closest(selector: string): HtmlElement | null;
  remove(): void;
};
type HtmlDocument = HtmlElement & { documentElement: HtmlElement; body: HtmlElement };

/** The work on a tree grows faster than the tree, and with its depth most of all. No page for people comes near. */
const MAX_TAGS = 100_000;
const MAX_ENTITIES = 50_000;
const MAX_DEPTH = 200;
/** Over all nodes, how deep they lie. */
const MAX_DEPTHS = 1_000_000;
/** What is found as the article is taken for it only if it is not a scrap of a page with more to it. */
const SCRAP = 250;

const UNSEEN =
  'script, style, template, iframe, object, embed, canvas, svg, body title, [hidden], [style*="display:none"], ' +
  '[style*="display: none"]';
/** Removed from whole pages, for which no article was extracted. */
const ASIDE = 'noscript, nav, [aria-hidden="true"], dialog';
const MAX_URL = 2000;

/**
 * What a page is about, as Markdown: its article where it has one, else all of it. Links and pictures are absolute;
 * pictures inside the page are left out. A page that is too big or too deep for a tree gives its text only.
 */
export function readHtml(html: string, url: string | null): DocumentText {
  const isPlain = count(html, '<') > MAX_TAGS || count(html, '&') > MAX_ENTITIES;
  return (isPlain ? undefined : findContent(html, url)) ?? readHtmlText(html);
}

function count(text: string, character: string): number {
  let found = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) found += 1;
  return found;
}

/** Undefined where the page is too deep, or nothing is left of it. */
function findContent(html: string, url: string | null): DocumentText | undefined {
  const document = parsePage(html);
  if (isTooDeep(document.documentElement)) return undefined;
  const title = readTitle(document);
  clean(document, UNSEEN, url);
  const whole = document.body.textContent.length;
  const article = new Readability(document, {
    serializer: (element) => element as HtmlElement,
    keepClasses: true,
  }).parse();
  const length = article?.length ?? 0;
  if (article?.content && (length >= SCRAP || length * 2 > whole)) {
    return { text: buildMarkdown(article.content, { pictures: true }), title: trimTitle(article.title) ?? title };
  }
  // Finding the article has changed the tree.
  const again = parsePage(html);
  clean(again, `${UNSEEN}, ${ASIDE}`, url);
  const text = buildMarkdown(again.body, { pictures: true });
  return text === '' ? undefined : { text, title };
}

function parsePage(html: string): HtmlDocument {
  const document = parse(html);
  // The parser makes no elements that the page leaves out.
  const isWhole =
    (document.documentElement as HtmlElement | null)?.nodeName === 'HTML' && document.querySelector('body') !== null;
  return isWhole ? document : parse(`<!DOCTYPE html><html><head></head><body>${html}</body></html>`);
}

function parse(html: string): HtmlDocument {
  return parseHTML(html).document;
}

function isTooDeep(root: HtmlElement): boolean {
  let depth = 1;
  let depths = 0;
  let node: HtmlElement | null = root.firstChild;
  while (node !== null) {
    depths += depth;
    if (depth > MAX_DEPTH || depths > MAX_DEPTHS) return true;
    if (node.firstChild !== null) {
      node = node.firstChild;
      depth += 1;
      continue;
    }
    while (node !== null && node.nextSibling === null) {
      depth -= 1;
      node = depth === 0 ? null : node.parentNode;
    }
    node = node?.nextSibling ?? null;
  }
  return false;
}

function readTitle(document: HtmlElement): string | null {
  return trimTitle(document.querySelector('title, h1')?.textContent);
}

function trimTitle(text: string | null | undefined): string | null {
  const title = (text ?? '').replaceAll(/\s+/g, ' ').trim();
  return title === '' ? null : title;
}

function clean(document: HtmlDocument, unwanted: string, url: string | null): void {
  for (const element of Array.from(document.querySelectorAll(unwanted))) element.remove();
  const base = findUrl(document.querySelector('base')?.getAttribute('href') ?? '', url) ?? url;
  for (const link of Array.from(document.querySelectorAll('a[href]'))) {
    const target = findUrl(link.getAttribute('href') ?? '', base);
    if (target === undefined) link.removeAttribute('href');
    else link.setAttribute('href', target);
  }
  for (const picture of Array.from(document.querySelectorAll('img'))) {
    const source = findUrl(picture.getAttribute('src') ?? picture.getAttribute('data-src') ?? '', base);
    if (source === undefined) picture.remove();
    else picture.setAttribute('src', source);
  }
  // Tables around tables arrange the page.
  for (const inner of Array.from(document.querySelectorAll('table table'))) {
    inner.parentNode?.closest('table')?.setAttribute('role', 'presentation');
  }
}

/** Of a link that leads anywhere outside of the page itself: not `javascript:`, not a picture written out. */
function findUrl(reference: string, base: string | null): string | undefined {
  if (reference.trim() === '' || reference.length > MAX_URL) return undefined;
  const url = URL.parse(reference, base ?? undefined);
  return url !== null && ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : undefined;
}
