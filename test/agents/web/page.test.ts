import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEgress } from '../../../src/platform/egress/egress.ts';
import type { Egress } from '../../../src/platform/egress/egress.ts';
import { readPage } from '../../../src/agents/web/page.ts';
import type { PageLimits } from '../../../src/agents/web/page.ts';
import { buildDocx, buildPdf, buildXlsx, paragraph } from '../../support/documents.ts';
import { buildArticlePage } from '../../support/pages.ts';
import { NEVER } from '../../support/sandbox.ts';
import { redirectTo, send, startSite } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';

let site: Site;
/** allowed by the operator as one host and port; everything else on this machine is not */
let egress: Egress;
let hidden: Site;
beforeAll(async () => {
  site = await startSite();
  hidden = await startSite();
  hidden.serve('/', send('text/html', '<p>internal</p>'));
  egress = openEgress({ allow: [site.url.replace('http://', '')] });
});
afterAll(async () => {
  await egress.close();
  site.close();
  hidden.close();
});

const read = (path: string, limits?: PageLimits) =>
  readPage(egress, path.includes(':') ? path : `${site.url}${path}`, NEVER, limits);

const MIME = 'application/octet-stream';
const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

describe('a page', () => {
  it('is Markdown with links that lead on from where it was found in the end', async () => {
    site.serve('/deep/er', send('text/html; charset=utf-8', buildArticlePage(12).replaceAll('"/terms/', '"terms/')));
    site.serve('/moved', redirectTo('/deep/er'));
    const page = await read('/moved');
    expect(page).toMatchObject({ title: 'The terms' });
    expect(page).toMatchObject({ text: expect.stringContaining(`[terms](${site.url}/deep/terms/11)`) });
  });

  it.each([
    ['a charset of the header', 'text/html; charset="ISO-8859-2"', Uint8Array.of(0xb1, 0xe6), 'ąć'],
    ['a text', 'text/plain', '<html><body>as <b>it</b> is', '<html><body>as <b>it</b> is'],
    ['Markdown', 'text/markdown', '# One\n\ntwo', '# One\n\ntwo'],
    ['JSON', 'application/problem+json', '{"a": "<b>"}', '{"a": "<b>"}'],
    ['XHTML', 'application/xhtml+xml', '<?xml version="1.0"?><html><body><p>one</p></body></html>', 'one'],
    ['XML', 'application/xml', '<?xml version="1.0"?><rss><item/></rss>', '<?xml version="1.0"?><rss><item/></rss>'],
    ['an SVG picture', 'image/svg+xml', '<svg><text>one</text></svg>', '<svg><text>one</text></svg>'],
    ['HTML without a type', '', '<!-- x --><!DOCTYPE html><p>one', 'one'],
    ['HTML of a type that says nothing', MIME, '<html><body>one</body></html>', 'one'],
    ['text of a type that says nothing', MIME, 'one', 'one'],
  ])('is read as %s', async (_name, type, body, text) => {
    site.serve('/page', send(type, body));
    expect(await read('/page')).toMatchObject({ text });
  });

  it('may come compressed', async () => {
    site.serve('/zip', send('text/html', gzipSync('<p>one</p>'), { 'content-encoding': 'gzip' }));
    expect(await read('/zip')).toMatchObject({ text: 'one' });
  });
});

describe('a document', () => {
  it.each([
    ['PDF', 'application/pdf', () => buildPdf(['Text of the page'])],
    ['PDF of a type that says nothing', MIME, () => buildPdf(['Text of the page'])],
    ['Word', DOCX, () => buildDocx([paragraph('Text of the page')])],
    ['Word that is said to be an archive', 'application/zip', () => buildDocx([paragraph('Text of the page')])],
    ['Excel', MIME, () => buildXlsx({ Sheet: [['Text of the page', 1]] })],
  ])('is read: %s', async (_name, type, build) => {
    site.serve('/document', send(type, build()));
    expect(await read('/document')).toMatchObject({ text: expect.stringContaining('Text of the page') });
  });

  it('that is broken is reported', async () => {
    site.serve('/document', send(DOCX, 'PK no archive'));
    expect(await read('/document')).toEqual({ fault: expect.stringContaining('damaged'), refused: false });
  });
});

describe('unreadable input', () => {
  const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');
  it.each([
    ['a picture', 'image/png', PNG, 'vision_analyze can look at it'],
    ['a picture that is said to be a page', 'text/html', PNG, 'image/png'],
    ['an archive', 'text/html', gzipSync('x'), 'application/gzip'],
    ['bytes', 'text/plain', Uint8Array.of(1, 0, 2, 0), 'no text'],
    ['a page of scripts only', 'text/html', '<div id="root"></div><script>go()</script>', 'no text in it'],
    ['nothing', 'text/html', '', 'no text in it'],
  ])('is told of: %s', async (_name, type, body, fault) => {
    site.serve('/page', send(type, body));
    expect(await read('/page')).toEqual({ fault: expect.stringContaining(fault), refused: false });
  });

  it.each([404, 500])('is reported: status %i', async (status) => {
    site.serve('/page', (response) => response.writeHead(status).end('<p>words</p>'));
    expect(await read('/page')).toEqual({ fault: `The server answered with status ${status}.`, refused: false });
  });
});

describe('an address that may not be asked', () => {
  it.each([
    'http://127.0.0.1/',
    'http://[::1]:8080/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://10.0.0.1/',
    'http://192.168.1.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:169.254.169.254]/',
    'http://localhost/',
  ])('is refused: %s', async (url) => {
    expect(await read(url)).toEqual({ fault: expect.stringContaining('not on the public internet'), refused: true });
  });

  it('is refused at the end of a redirect too', async () => {
    for (const target of [`${hidden.url}/`, 'http://169.254.169.254/latest/meta-data/', 'http://[::1]/']) {
      site.serve('/away', redirectTo(target));
      expect(await read('/away')).toMatchObject({ refused: true });
    }
    expect(hidden.requests).toEqual([]);
  });

  it.each([
    ['private', ['10.1.2.3']],
    ['public and private', ['93.184.216.34', '127.0.0.1']],
    ['those of a translator for private', ['64:ff9b::a00:1']],
  ])('is refused when its name stands for addresses that are %s', async (_name, addresses) => {
    const guarded = openEgress({ allow: [], resolve: () => Promise.resolve(addresses) });
    const { port } = new URL(hidden.url);
    const url = `http://internal.example:${port}/`;
    expect(await readPage(guarded, url, NEVER)).toMatchObject({ refused: true });
    expect(hidden.requests).toEqual([]);
    await guarded.close();
  });

  it.each([
    'file:///etc/passwd',
    'ftp://site.example/',
    'data:text/html,x',
    'no address',
    'http://me:pw@site.example/',
  ])('is none: %s', async (url) => {
    expect(await readPage(egress, url, NEVER)).toEqual({ fault: expect.stringContaining('URL'), refused: false });
  });
});

describe('a server that means harm', () => {
  it('has no use of answers without end', async () => {
    site.serve('/endless', (response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      const chunk = Buffer.alloc(64 * 1024, '<p>');
      const pump = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', pump);
      pump();
    });
    expect(await read('/endless')).toEqual({ fault: expect.stringContaining('larger than'), refused: false });
  });

  it('has no use of small answers that become big', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    site.serve('/bomb', send('text/html', bomb, { 'content-encoding': 'gzip' }));
    expect(await read('/bomb')).toEqual({ fault: expect.stringContaining('larger than'), refused: false });
  });

  it('has no use of answers that come drop by drop', async () => {
    const timers: NodeJS.Timeout[] = [];
    site.serve('/drip', (response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      timers.push(setInterval(() => response.write('<p>drop</p>'), 5));
    });
    const limits = { maxBytes: 1_000_000, timeoutMs: 300 };
    expect(await read('/drip', limits)).toEqual({ fault: expect.stringContaining('in time'), refused: false });
    timers.forEach((timer) => clearInterval(timer));
  });

  it('has no use of redirects without end', async () => {
    site.serve('/round', redirectTo('/round'));
    expect(await read('/round')).toEqual({ fault: expect.stringContaining('redirects too often'), refused: false });
  });

  it('stops when its caller aborts', async () => {
    site.serve('/silent', () => undefined);
    const abort = new AbortController();
    const reading = readPage(egress, `${site.url}/silent`, abort.signal);
    setTimeout(() => abort.abort(new Error('gone')), 20);
    await expect(reading).rejects.toThrow('gone');
  });
});
