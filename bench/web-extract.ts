// Compares web_extract with its alternatives: the same pages, alternating, by our reader in its thread, by our reader
// without the thread, and by jsdom with the same Readability and turndown on its output. RUNS (default 5) of each;
// medians.
// Needs: nothing.
import { Readability } from '@mozilla/readability';
import { JSDOM } from 'jsdom';
import TurndownService from 'turndown';
import { convertPage } from '../src/platform/documents/convert-page.ts';
import { readPage } from '../src/platform/documents/page.ts';
import { buildArticlePage } from '../test/support/pages.ts';
import { median, milliseconds, printMachine } from './support/figures.ts';

const RUNS = Number(process.env['RUNS'] ?? 5);
const URL = 'https://site.example/terms';

type Extract = { text: string };

function readByJsdom(html: string): Extract {
  const { window } = new JSDOM(html, { url: URL });
  try {
    const article = new Readability(window.document).parse();
    if (typeof article?.content !== 'string') throw new Error('jsdom: no article');
    const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
    return { text: turndown.turndown(article.content) };
  } finally {
    window.close();
  }
}

function buildPage(html: string) {
  return { bytes: Buffer.from(html), mimeType: 'text/html' as const, charset: 'utf-8', url: URL };
}

const READERS: Record<string, (html: string) => Extract | Promise<Extract>> = {
  'ours, in its thread': (html) => convertPage(buildPage(html)),
  'ours, without the thread': (html) => readPage(buildPage(html), true),
  'jsdom + readability + turndown': readByJsdom,
};

printMachine();
for (const paragraphs of [20, 500, 2000]) {
  const html = buildArticlePage(paragraphs);
  console.log(`\npage of ${Math.round(html.length / 1000)} KB`);
  const times = new Map(Object.keys(READERS).map((name) => [name, [] as number[]]));
  // The first round loads the modules and warms up.
  for (let run = -1; run < RUNS; run += 1) {
    for (const [name, read] of Object.entries(READERS)) {
      const started = performance.now();
      const { text } = await read(html);
      if (run >= 0) times.get(name)?.push(performance.now() - started);
      if (!text.includes(`Paragraph ${paragraphs - 1} tells`)) throw new Error(`${name}: the article is not whole`);
      if (text.includes('newsletter')) throw new Error(`${name}: more than the article`);
    }
  }
  for (const [name, taken] of times) {
    console.log(`  ${name}: ${milliseconds(median(taken))} (${milliseconds(Math.min(...taken))} at best)`);
  }
}
