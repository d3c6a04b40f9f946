import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WebSearchConfig } from '../../../src/agents/contract/web-search.ts';
import { openEgress } from '../../../src/platform/egress/egress.ts';
import type { Egress } from '../../../src/platform/egress/egress.ts';
import { openWeb } from '../../../src/agents/web/web.ts';
import type { Web } from '../../../src/agents/web/web.ts';
import { NEVER } from '../../support/sandbox.ts';
import { redirectTo, sendJson, startSite } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';

const KEY = 'c4n4ry-search-key-5512';

let site: Site;
let egress: Egress;
let opened: Web[] = [];
beforeAll(() => {
  egress = openEgress({ allow: [] });
});
beforeEach(async () => {
  site = await startSite();
});
afterEach(async () => {
  for (const web of opened) await web.close();
  opened = [];
  site.close();
});
afterAll(() => egress.close());

function open(search: Partial<WebSearchConfig>): Web {
  const web = openWeb({ egress, search: { backend: 'searxng', baseUrl: site.url, ...search } });
  opened.push(web);
  return web;
}

const numbered = (from: number, count: number, make: (number: number) => object) =>
  Array.from({ length: count }, (_, index) => make(from + index));
const urls = (found: Awaited<ReturnType<Web['search']>>) =>
  'results' in found ? found.results.map(({ url }) => url) : found.fault;

describe('SearXNG', () => {
  /** The response of a server of 2026, shortened to one field of each kind. */
  const answer = (results: object[], silent: string[][] = []) =>
    sendJson({
      query: 'x',
      number_of_results: 0,
      results,
      answers: [],
      corrections: [],
      infoboxes: [],
      suggestions: ['y'],
      unresponsive_engines: silent,
    });
  const result = (number: number) => ({
    template: 'default.html',
    url: `https://site.example/${number}`,
    title: `Title ${number}`,
    content: 'Some\n  words',
    publishedDate: null,
    thumbnail: null,
    engine: 'brave',
    parsed_url: ['https', 'site.example', `/${number}`, '', '', ''],
    engines: ['brave', 'duckduckgo'],
    positions: [1, 3],
    score: 2.66,
    category: 'general',
  });

  it('is asked for JSON, with the query as it is', async () => {
    site.serve('/searx/search', answer([result(1), { ...result(2), content: null }]));
    const found = await open({ baseUrl: `${site.url}/searx/` }).search('site:a.example "b & c" -d', 5, NEVER);
    expect(found).toEqual({
      results: [
        { title: 'Title 1', url: 'https://site.example/1', description: 'Some words' },
        { title: 'Title 2', url: 'https://site.example/2', description: '' },
      ],
    });
    const asked = Object.fromEntries(site.requests[0]?.url.searchParams ?? []);
    expect(asked).toEqual({ q: 'site:a.example "b & c" -d', format: 'json', pageno: '1' });
    expect(site.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('is asked for more pages until there are enough results, each once', async () => {
    site.serve('/search', (response, request) => {
      const page = Number(request.url.searchParams.get('pageno'));
      answer(numbered(page * 10 - 12, 12, result))(response, request);
    });
    const found = urls(await open({}).search('x', 25, NEVER));
    expect(found).toHaveLength(25);
    expect(new Set(found).size).toBe(25);
    expect(site.requests).toHaveLength(3);
  });

  it('is asked no further when a page brings nothing new', async () => {
    site.serve('/search', answer([result(1), result(1)]));
    expect(urls(await open({}).search('x', 100, NEVER))).toEqual(['https://site.example/1']);
    expect(site.requests).toHaveLength(2);
  });

  it('returns only public web pages', async () => {
    site.serve('/search', answer([{ ...result(1), url: 'magnet:?xt=1' }, result(2)]));
    expect(urls(await open({}).search('x', 5, NEVER))).toEqual(['https://site.example/2']);
  });

  it('reports unreachable engines if no other error applies', async () => {
    site.serve('/search', answer([], [['google', 'CAPTCHA'], ['bing']]));
    expect(await open({}).search('x', 5, NEVER)).toEqual({
      fault: 'No engine of the search backend answered: google (CAPTCHA), bing.',
    });
    site.serve('/search', answer([]));
    expect(await open({}).search('x', 5, NEVER)).toEqual({ results: [] });
  });
});

describe('Brave', () => {
  const answer = (results: object[]) =>
    sendJson({
      type: 'search',
      query: { original: 'x', more_results_available: true, is_navigational: false },
      mixed: { type: 'mixed', main: [{ type: 'web', index: 0, all: false }] },
      web: { type: 'search', results, family_friendly: true },
    });
  const result = (number: number) => ({
    title: `Title ${number} &amp; more`,
    url: `https://site.example/${number}`,
    is_source_local: false,
    description: 'It&#x27;s <strong>bold</strong> to ask',
    page_age: '2026-10-01T00:00:00',
    profile: { name: 'Site', url: 'https://site.example' },
    language: 'en',
    type: 'search_result',
    meta_url: { scheme: 'https', netloc: 'site.example', path: '› 1' },
  });

  it('is asked with the key, for no more than it gives at once', async () => {
    site.serve('/res/v1/web/search', answer(numbered(1, 3, result)));
    const web = open({ backend: 'brave', baseUrl: `${site.url}/res/v1`, apiKey: KEY });
    const found = await web.search('x y', 2, NEVER);
    expect(found).toMatchObject({
      results: [{ title: 'Title 1 & more', description: "It's bold to ask" }, { url: 'https://site.example/2' }],
    });
    const [request] = site.requests;
    expect(request?.headers['x-subscription-token']).toBe(KEY);
    expect(Object.fromEntries(request?.url.searchParams ?? [])).toMatchObject({ q: 'x y', count: '2', offset: '0' });
  });

  it('is queried for a hundred results in five pages, and keeps earlier pages if one fails', async () => {
    site.serve('/web/search', (response, request) => {
      const { searchParams } = request.url;
      const [page, count] = [Number(searchParams.get('offset')), Number(searchParams.get('count'))];
      if (page === 4) response.writeHead(429).end('{}');
      else answer(numbered(page * count, count, result))(response, request);
    });
    const found = await open({ backend: 'brave', apiKey: KEY }).search('x', 100, NEVER);
    expect(urls(found)).toHaveLength(80);
    expect(site.requests.map(({ url }) => url.searchParams.get('count'))).toEqual(['20', '20', '20', '20', '20']);
  });

  it('may have found no pages', async () => {
    site.serve('/web/search', sendJson({ type: 'search', query: { original: 'x' } }));
    expect(await open({ backend: 'brave', apiKey: KEY }).search('x', 5, NEVER)).toEqual({ results: [] });
  });
});

describe('Tavily', () => {
  it('is queried with the key, for its maximum number of results', async () => {
    site.serve(
      '/search',
      sendJson({
        query: 'x',
        follow_up_questions: null,
        answer: null,
        images: [],
        results: [{ url: 'https://site.example/1', title: 'One', content: 'Words', score: 0.98, raw_content: null }],
        response_time: 0.7,
        request_id: 'r',
      }),
    );
    const found = await open({ backend: 'tavily', apiKey: KEY }).search('x', 50, NEVER);
    expect(found).toEqual({ results: [{ title: 'One', url: 'https://site.example/1', description: 'Words' }] });
    const [request] = site.requests;
    expect(request?.method).toBe('POST');
    expect(request?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(JSON.parse(request?.body ?? '')).toEqual({ query: 'x', max_results: 20, search_depth: 'basic' });
  });
});

describe('a backend that fails', () => {
  const faultOf = async (web: Web) => {
    const found = await web.search('what I look for', 5, NEVER);
    if (!('fault' in found)) throw new Error('it did not fail');
    expect(found.fault).not.toContain(KEY);
    expect(found.fault).not.toContain('what I look for');
    return found.fault;
  };

  it.each([
    [401, 'refused the request (401)'],
    [403, 'refused the request (403)'],
    [429, 'Try again later'],
    [500, 'status 500'],
  ])('with status %i is told of without its key', async (status, expected) => {
    site.serve('/search', (response) => response.writeHead(status).end(`bad key ${KEY}`));
    expect(await faultOf(open({ backend: 'tavily', apiKey: KEY }))).toContain(expected);
  });

  it.each([
    ['no JSON', '<html>'],
    ['other JSON', '{"results":[{"href":1}]}'],
  ])('with %s is told of', async (_name, body) => {
    site.serve('/search', (response) => response.end(body));
    expect(await faultOf(open({ apiKey: KEY }))).toContain('not what such a backend answers');
  });

  it('by being unavailable is reported', async () => {
    site.close();
    expect(await faultOf(open({ apiKey: KEY }))).toContain('could not be reached');
  });

  it('by leading elsewhere is not followed to private addresses', async () => {
    const secret = await startSite();
    secret.serve('/', sendJson({ results: [] }));
    site.serve('/search', redirectTo(`${secret.url}/`));
    expect(await faultOf(open({ apiKey: KEY }))).toContain('not on the public internet');
    expect(secret.requests).toEqual([]);
    secret.close();
  });

  it('ends with its caller', async () => {
    site.serve('/search', () => undefined);
    const abort = new AbortController();
    const search = open({}).search('x', 5, abort.signal);
    setTimeout(() => abort.abort(new Error('gone')), 20);
    await expect(search).rejects.toThrow('gone');
  });
});

it('without a backend names who can configure one', async () => {
  const web = openWeb({ egress, search: undefined });
  expect(await web.search('x', 5, NEVER)).toEqual({
    fault: expect.stringMatching(/No search backend is configured.*operates.*webSearch in capstan\.yaml/),
  });
});
