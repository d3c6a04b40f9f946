import { describe, expect, it } from 'vitest';
import { convertPage } from '../../../src/platform/documents/convert-page.ts';
import type { PageSource } from '../../../src/platform/documents/job.ts';
import { HOSTILE_PAGES, buildArticlePage } from '../../support/pages.ts';

const convert = (source: string | Uint8Array, page: Partial<PageSource> = {}, signal?: AbortSignal) => {
  const bytes = typeof source === 'string' ? Buffer.from(source) : source;
  return convertPage({ bytes, mimeType: 'text/html', charset: null, url: 'https://site.example/a/b', ...page }, signal);
};
const textOf = async (source: string | Uint8Array, page: Partial<PageSource> = {}) =>
  (await convert(source, page)).text;

/** Three letters of Polish in ISO 8859-2. */
const WORDS = Uint8Array.of(0xb1, 0xe6, 0xea);

describe('an HTML page', () => {
  it('becomes the Markdown of its article', async () => {
    const { text, title } = await convert(buildArticlePage(12));
    expect(title).toBe('The terms');
    expect(text).toContain('## Part 1\n\nParagraph 10 tells of the [terms](https://site.example/terms/10), in _plain_');
    expect(text).toContain('| name | square |\n| --- | --- |\n| row 0 | 0 |\n| row 1 | 1 |');
    expect(text).toContain('```js\nconst a = 1;\n  if (a) b();\n```');
    for (const other of ['Topic 3', 'newsletter', 'track()', 'color: red', '2026']) expect(text).not.toContain(other);
  });

  it('is given whole where it has no article', async () => {
    const links = Array.from({ length: 40 }, (_, item) => `<li><a href="story/${item}">Story ${item}</a></li>`).join(
      '',
    );
    const { text, title } = await convert(
      `<html><head><title> All\n stories </title></head><body><ul>${links}</ul></body></html>`,
    );
    expect(title).toBe('All stories');
    expect(text).toContain('[Story 0](https://site.example/a/story/0)');
    expect(text).toContain('[Story 39](https://site.example/a/story/39)');
  });

  it('falls back to the text beside articles if there is nothing else', async () => {
    expect(await textOf('<nav><a href="/a">One</a></nav>')).toBe('[One](https://site.example/a)');
    expect(await textOf('<div aria-hidden="true"><h1>Two</h1><p>three</p></div>')).toBe('# Two\n\nthree');
  });

  it('may leave out the elements that HTML lets it leave out', async () => {
    expect(await convert('<!DOCTYPE html><title>Short</title><p>One <b>two</b><p>three')).toEqual({
      text: 'One **two**\n\nthree',
      title: 'Short',
    });
    expect(await textOf('no elements at all')).toBe('no elements at all');
    expect(await convert('')).toEqual({ text: '', title: null });
  });

  it('keeps no picture that it carries itself, and no link that leads nowhere', async () => {
    const data = `data:image/png;base64,${'A'.repeat(500)}`;
    const text = await textOf(
      `<p>See <img src="${data}" alt="inline"> <img src="/p.png" alt="linked"> <a href="javascript:go()">go</a> ` +
        `<a href="#top">up</a></p><pre>${data}</pre>`,
    );
    expect(text).toBe(
      'See ![linked](https://site.example/p.png) go [up](https://site.example/a/b#top)\n\n[data left out]',
    );
  });

  it('resolves links against the base that it names', async () => {
    const text = await textOf('<base href="https://other.example/docs/"><p><a href="x">x</a></p>');
    expect(text).toBe('[x](https://other.example/docs/x)');
  });

  it('shows no tables that only arrange it', async () => {
    const inner = '<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>';
    const text = await textOf(`<table><tr><td>${inner}</td><td>beside</td></tr></table>`);
    expect(text).toBe('| a | b |\n| --- | --- |\n| 1 | 2 |\n\nbeside');
  });

  it('shows nothing that is hidden from people', async () => {
    const text = await textOf(
      '<p>seen</p><p hidden>one</p><template>two</template><noscript>three</noscript><p style="display:none">four</p>',
    );
    expect(text).toBe('seen');
  });
});

describe('the encoding of a page', () => {
  const withMeta = (meta: string) => Buffer.concat([Buffer.from(`<html><head>${meta}</head><body>`), WORDS]);

  it.each([
    ['what the server says', WORDS, 'iso-8859-2', 'ąćę'],
    ['what the server says, before what the page says', withMeta('<meta charset="utf-8">'), 'ISO-8859-2', 'ąćę'],
    ['what the page says', withMeta('<meta charset="iso-8859-2">'), null, 'ąćę'],
    [
      'what the page says the old way',
      withMeta('<meta http-equiv="content-type" content="text/html; charset=iso-8859-2">'),
      null,
      'ąćę',
    ],
    ['its byte order mark', Buffer.from('\ufeffąćę', 'utf16le'), 'iso-8859-1', 'ąćę'],
    ['UTF-8 where it is that', Buffer.from('ąćę'), null, 'ąćę'],
    ['windows-1252 for anything else', Uint8Array.of(0x93, 0x80, 0x94), null, '“€”'],
    ['Shift JIS', Uint8Array.of(0x93, 0xfa, 0x96, 0x7b), 'shift_jis', '日本'],
    ['an unknown name, which is ignored', Buffer.from('ąćę'), 'no-such-thing', 'ąćę'],
  ])('is %s', async (_name, bytes, charset, expected) => {
    expect(await textOf(bytes, { charset })).toBe(expected);
  });
});

describe('text and JSON', () => {
  it('stay as they are', async () => {
    expect(await textOf('<b>\r\n1 & 2\n', { mimeType: 'text/plain' })).toBe('<b>\n1 & 2');
    expect(await textOf('{"a":1}', { mimeType: 'application/json' })).toBe('{"a":1}');
    expect(await textOf(WORDS, { mimeType: 'text/plain', charset: 'iso-8859-2' })).toBe('ąćę');
  });

  it('are laid out in lines when they are long JSON', async () => {
    const value = { items: Array.from({ length: 1000 }, (_, id) => ({ id })) };
    const text = await textOf(JSON.stringify(value), { mimeType: 'application/json' });
    expect(text.split('\n').length).toBeGreaterThan(3000);
    expect(JSON.parse(text)).toEqual(value);
    const broken = `${JSON.stringify(value)}}`;
    expect(await textOf(broken, { mimeType: 'application/json' })).toBe(broken);
  });

  it('are refused when they are no text', async () => {
    await expect(convert(Uint8Array.of(1, 0, 2), { mimeType: 'text/plain' })).rejects.toMatchObject({
      code: 'unsupported',
    });
  });

  it('are cut where they would fill a disk', async () => {
    const text = await textOf('a'.repeat(2_000_010), { mimeType: 'text/plain' });
    expect(text).toHaveLength(2_000_000 + '\n[10 more characters are left out.]'.length);
  });
});

describe('a hostile page', () => {
  it.each(Object.keys(HOSTILE_PAGES))(
    'of %s gives its words, and the event loop goes on',
    async (name) => {
      const source = HOSTILE_PAGES[name]?.() ?? '';
      let turns = 0;
      const timer = setInterval(() => (turns += 1), 5);
      try {
        expect((await textOf(source)).includes('the words')).toBe(true);
      } finally {
        clearInterval(timer);
      }
      expect(turns).toBeGreaterThan(0);
    },
    120_000,
  );

  it('is let go of when the caller has gone', async () => {
    const abort = new AbortController();
    const converted = convert(HOSTILE_PAGES['columns of deep elements']?.() ?? '', {}, abort.signal);
    abort.abort(new Error('gone'));
    await expect(converted).rejects.toThrow('gone');
    expect(await textOf('<p>next</p>')).toBe('next');
  });
});
