import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { breakLines, cutExcerpt } from '../../../src/agents/tools/web/shorten.ts';
import { SandboxError } from '../../../src/sandbox/sandbox.ts';
import { openEgress } from '../../../src/platform/egress/egress.ts';
import type { Egress } from '../../../src/platform/egress/egress.ts';
import { openWeb } from '../../../src/agents/web/web.ts';
import type { Web } from '../../../src/agents/web/web.ts';
import { buildArticlePage } from '../../support/pages.ts';
import { send, sendJson, startSite } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';
import { buildPorts } from '../../support/tool-ports.ts';
import { openToolSession } from '../../support/tools.ts';

type Extract = { url: string; title: string; content: string; error: string | null; blocked_by_policy?: boolean };

let site: Site;
let egress: Egress;
let web: Web;
let session: Awaited<ReturnType<typeof openToolSession>>;
beforeAll(async () => {
  site = await startSite();
  egress = openEgress({ allow: [site.url.replace('http://', '')] });
  web = openWeb({ egress, search: { backend: 'searxng', baseUrl: site.url } });
  session = await openToolSession({ ...buildPorts(), web });
  site.serve('/short', send('text/html', '<title>Short</title><p>One <b>two</b>'));
});
afterAll(async () => {
  await session.close();
  await web.close();
  await egress.close();
  site.close();
});

const extract = async (urls: unknown, over: object = {}) => {
  const { isError, value } = await session.call('web_extract', { urls }, over);
  return { isError, results: (value['results'] ?? []) as Extract[] };
};

describe('web_extract', () => {
  it('returns title and Markdown of every page, and the reason for a failed one', async () => {
    const { isError, results } = await extract([`${site.url}/short`, `${site.url}/gone`, 'http://10.0.0.1/', 'what?']);
    expect(isError).toBe(false);
    expect(results).toEqual([
      { url: `${site.url}/short`, title: 'Short', content: 'One **two**', error: null },
      { url: `${site.url}/gone`, title: '', content: '', error: 'The server answered with status 404.' },
      {
        url: 'http://10.0.0.1/',
        title: '',
        content: '',
        error: expect.stringContaining('not on the public internet'),
        blocked_by_policy: true,
      },
      { url: 'what?', title: '', content: '', error: 'The URL must be one of http or https.' },
    ]);
  });

  it('fails if every page fails, and without pages', async () => {
    expect(await extract([`${site.url}/gone`])).toMatchObject({ isError: true, results: [{ title: '' }] });
    expect(await session.call('web_extract', { urls: [] })).toMatchObject({
      isError: true,
      value: { error: 'urls: must hold at least one address' },
    });
  });

  it('reads five pages at most', async () => {
    const { results } = await extract(Array.from({ length: 7 }, () => `${site.url}/short`));
    expect(results.map(({ error }) => error)).toEqual([null, null, null, null, null]);
  });

  it('takes one address for a list, and an address without its protocol', async () => {
    expect((await extract(`${site.url}/short`)).results).toHaveLength(1);
    const [result] = (await extract(['no-such-host.invalid/page'])).results;
    expect(result?.error).toContain('no-such-host.invalid:443');
  });

  it('gives the beginning of a long page, and a file with the whole that reads on', async () => {
    site.serve('/long', send('text/html', buildArticlePage(200)));
    const { results } = await extract([`${site.url}/short`, `${site.url}/long`], { callId: 'evt_1' });
    const content = results[1]?.content ?? '';
    expect(content.length).toBeLessThanOrEqual(5000);
    expect(content.length).toBeGreaterThan(4000);
    const found = /saved at (\S+): read on with read_file from offset=(\d+)/.exec(content);
    const [, path = '', offset = ''] = found ?? [];
    expect(path).toMatch(/\/\.capstan\/outputs\/evt_1-2\.md$/);
    const whole = await session.read(path);
    expect(content).toContain(`of ${whole.length} characters`);
    expect(whole).toContain('Paragraph 199 tells');
    const shown = content.slice(0, content.lastIndexOf('\n\n['));
    const { value } = await session.call('read_file', { path, offset: Number(offset), limit: 2000 });
    const rest = String(value['content'])
      .split('\n')
      .map((line) => line.replace(/^\d+\|/, ''))
      .join('\n');
    expect(`${shown}\n${rest}`).toBe(whole);
  });

  it('says so when the whole cannot be saved', async () => {
    site.serve('/long', send('text/plain', 'word\n'.repeat(2000)));
    const sandbox = () => Promise.reject(new SandboxError('no sandbox'));
    const { results } = await extract([`${site.url}/long`], { sandbox });
    expect(results[0]?.content).toMatch(/\[Showing the first \d+ of 9999 characters\. The rest could not be saved/);
  });
});

describe('a long text', () => {
  it('is broken into lines that are shown whole, at spaces, never inside a character', () => {
    const words = 'word '.repeat(1000).trim();
    const lines = breakLines(`first\n${words}\n${'😀'.repeat(1500)}`).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(1000);
    expect(lines.every((line) => line.isWellFormed())).toBe(true);
    expect(lines.slice(1, -3).join(' ')).toBe(words);
    expect(lines.slice(-3).join('')).toBe('😀'.repeat(1500));
  });

  it('is cut after a line', () => {
    const text = Array.from({ length: 1000 }, (_, number) => `line ${number}`).join('\n');
    const { excerpt, nextLine } = cutExcerpt(text);
    expect(
      `${excerpt}\n${text
        .split('\n')
        .slice(nextLine - 1)
        .join('\n')}`,
    ).toBe(text);
  });
});

describe('web_search', () => {
  const result = (number: number) => ({ url: `https://site.example/${number}`, title: `T${number}`, content: 'c' });
  const positions = async (input: object) => {
    const { value } = await session.call('web_search', { query: 'x', ...input });
    return (value['data'] as { web: { position: number }[] }).web.map(({ position }) => position);
  };

  it('gives results with their positions, five unless asked for more or fewer', async () => {
    site.serve('/search', sendJson({ results: Array.from({ length: 120 }, (_, number) => result(number)) }));
    expect((await session.call('web_search', { query: 'x', limit: 1 })).value).toEqual({
      success: true,
      data: { web: [{ title: 'T0', url: 'https://site.example/0', description: 'c', position: 1 }] },
    });
    expect(await positions({})).toEqual([1, 2, 3, 4, 5]);
    expect(await positions({ limit: 0 })).toHaveLength(1);
    expect(await positions({ limit: '1000' })).toHaveLength(100);
  });

  it('fails with the reason: no words, no backend', async () => {
    const failure = { isError: true, value: { success: false, error: 'query: must not be empty' } };
    expect(await session.call('web_search', { query: ' ' })).toMatchObject(failure);
    const without = { web: openWeb({ egress, search: undefined }) };
    expect(await session.call('web_search', { query: 'x' }, without)).toMatchObject({
      isError: true,
      value: { success: false, error: expect.stringContaining('No search backend is configured') },
    });
  });
});
