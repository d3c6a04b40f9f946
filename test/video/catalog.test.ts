import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Asset, Template } from '../../src/video/contract/catalog.ts';
import type { Generation } from '../../src/video/contract/generations.ts';
import { listShelves } from '../../src/video/store/assets.ts';
import { startVideo } from './harness.ts';
import type { TestVideo } from './harness.ts';
import { SCRIPTED, openScriptedEngine } from './scripted-engine.ts';

describe('the shelves of a scope', () => {
  it.each([0, 16_383, 16_384, 50_000, 65_536, 500_000, 1_048_576, 30_000_000])(
    'hold every place up to %i once, from the newest, and are few',
    (newest) => {
      for (const seemsRare of [false, true]) {
        const shelves = listShelves('s', newest, seemsRare).map((name) => {
          const [, level, number] = name.split(':').map(Number);
          const size = 16_384 * 4 ** level!;
          return { from: number! * size, to: (number! + 1) * size };
        });
        expect(shelves[0]!.to).toBeGreaterThan(newest + 1);
        expect(shelves.at(-1)!.from).toBe(0);
        shelves.slice(1).forEach(({ to }, index) => expect(to).toBe(shelves[index]!.from));
        expect(shelves.length).toBeLessThanOrEqual(18 + newest / 4_194_304);
      }
    },
  );
});

describe('templates, assets and pages', () => {
  let video: TestVideo;
  beforeAll(async () => {
    video = await startVideo({ engines: [openScriptedEngine()] });
  });
  afterAll(() => video.close());

  const make = async (prompt: string, key?: string): Promise<Generation> => {
    const [id] = await video.submit({ prompt, modelName: SCRIPTED }, key);
    return video.finish(id!, key);
  };
  const search = async (query: string, key?: string) => {
    const answer = await video.call<{ data: Asset[] }>(
      'GET',
      `/api/assets/search?${query}`,
      key === undefined ? {} : { key },
    );
    expect(answer.status).toBe(200);
    return answer.body.data;
  };

  type Page = { data: { id: string }[]; pagination: { has_more: boolean; next_cursor: string | null } };
  const readByCursor = async (path: string, limit = 1, key?: string): Promise<string[]> => {
    const options = key === undefined ? {} : { key };
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const { status, body } = await video.call<Page>('GET', `${path}limit=${limit}${cursor}`, options);
      expect([status, body.pagination.has_more]).toEqual([200, body.pagination.next_cursor !== null]);
      expect(Object.keys(body.pagination).includes('offset')).toBe(cursor === '');
      seen.push(...body.data.map(({ id }) => id));
      if (body.pagination.next_cursor === null) return seen;
      cursor = `&cursor=${body.pagination.next_cursor}`;
      expect((await video.call('GET', `${path}offset=0${cursor}`, options)).status).toBe(400);
    }
  };

  it('shows featured templates, by words of title and description in any case, and no others', async () => {
    const key = await video.makeKey('default', ['admin', 'templates:read']);
    const apply = (body: Record<string, unknown>) => video.call('POST', '/api/templates', { key, body });
    const template = { title: 'Harbour at dawn', description: 'Slow, 50% wide', kind: 'video', modelName: SCRIPTED };
    expect(await apply({ id: 'dawn', featured: true, ...template })).toMatchObject({ status: 201 });
    expect(await apply({ id: 'hidden', featured: false, ...template })).toMatchObject({ status: 201 });
    const made = await apply({ ...template, featured: true, title: 'Forest', description: null });
    expect(made.body).toMatchObject({ data: { id: expect.stringMatching(/^tpl_/) as string } });
    expect(await apply({ id: 'dawn', featured: true, ...template, title: 'A harbour' })).toMatchObject({ status: 200 });
    const list = async (query: string) =>
      (await video.call<{ data: Template[] }>('GET', `/api/templates?${query}`)).body.data.map(({ title }) => title);
    expect(await list('')).toEqual(['A harbour', 'Forest']);
    expect(await list('q=HARB')).toEqual(['A harbour']);
    expect(await list('q=slow')).toEqual(['A harbour']);
    await apply({ id: 'ete', featured: true, ...template, title: 'Été' });
    expect(await list('q=ÉTÉ')).toEqual(['Été']);
    await apply({ id: 'ete', featured: false, ...template });
    expect(await list('q=50%25')).toEqual(['A harbour']);
    expect(await list('q=%25%25')).toEqual([]);
    expect(await list('q=__')).toEqual([]);
    const page = await video.call('GET', '/api/templates?limit=1&offset=0');
    expect(page.body).toEqual({
      data: [{ id: 'dawn', title: 'A harbour', description: 'Slow, 50% wide', kind: 'video', model_name: SCRIPTED }],
      pagination: { offset: 0, limit: 1, has_more: true, next_cursor: expect.any(String) as string },
    });
    expect((await video.call('GET', '/api/templates/dawn')).body).toMatchObject({ data: { title: 'A harbour' } });
    for (const id of ['hidden', 'none']) {
      expect(await video.call('GET', `/api/templates/${id}`)).toMatchObject({
        status: 404,
        body: { error: 'not_found' },
      });
    }
    expect(await video.call('GET', '/api/templates?q=x')).toMatchObject({
      status: 400,
      body: { error: 'validation_error' },
    });
    const [id] = await video.submit({ prompt: 'x', modelName: SCRIPTED, templateId: 'dawn' });
    expect(await video.finish(id!)).toMatchObject({ template_id: 'dawn' });
  });

  it('finds own videos at once, and others’ only once they are shared', async () => {
    const other = await video.makeKey('other');
    const mine = await make('A red lighthouse in fog');
    const theirs = await make('A green lighthouse at noon', other);
    const ids = (assets: readonly Asset[]) => assets.map(({ metadata: _m, ...asset }) => [asset.source, asset.prompt]);
    const own = ['history', 'A red lighthouse in fog'];
    expect(ids(await search('q=lighthouse'))).toEqual([own]);
    const published = await video.call<{ data: Asset }>('POST', `/api/generations/${theirs.id}/publish`, {
      key: other,
    });
    expect(published.status).toBe(201);
    expect(published.body.data).toMatchObject({ source: 'community', asset_id: theirs.asset_id, created_at: null });
    const again = await video.call<{ data: Asset }>('POST', `/api/generations/${theirs.id}/publish`, { key: other });
    expect(again.body.data.id).toBe(published.body.data.id);
    const shared = ['community', 'A green lighthouse at noon'];
    expect(ids(await search('q=lighthouse'))).toEqual([shared, own]);
    expect(ids(await search('q=LIGHThouse&source=community'))).toEqual([shared]);
    expect(ids(await search('q=lighthouse&source=history'))).toEqual([own]);
    expect(ids(await search('q=fog%20red'))).toEqual([own]);
    expect(ids(await search('q=no'))).toEqual([shared]);
    expect(ids(await search('q=ightho&type=video'))).toEqual([shared, own]);
    expect(await search('q=lighthouse&type=image')).toEqual([]);
    expect(await search('q=%25%25')).toEqual([]);
    const [found] = await search('q=red');
    expect(found).toMatchObject({ id: mine.id, asset_s3_key: mine.asset_s3_key, published_at: null });
    expect((await fetch(found!.asset_url!)).status).toBe(200);
    const page = await video.call('GET', '/api/assets/search?q=lighthouse&limit=1');
    expect(page.body).toMatchObject({ pagination: { offset: 0, limit: 1, has_more: true } });
    const rest = await video.call('GET', '/api/assets/search?q=lighthouse&limit=99&offset=1');
    expect(rest.body).toMatchObject({ data: [{ id: mine.id }], pagination: { offset: 1, limit: 60, has_more: false } });
    await video.call('DELETE', `/api/generations/${theirs.id}/publish`, { key: other });
    expect(ids(await search('q=lighthouse'))).toEqual([own]);
  });

  it.each([
    ['A SCI-FI street (4k)', ['fi', '4K', 'sci-fi', 'street', '(4'], ['tr', 'et', '_i']],
    ['École à la Öresund', ['école', 'ÖRE', 'éc'], ['ecole']],
    ['夜の灯台', ['灯台', '夜の灯'], ['台灯']],
    ['two\n\tlines', ['li', 'lines two'], ['wo']],
  ])('finds %j by words, their beginnings and parts of three characters', async (prompt, found, missing) => {
    const key = await video.makeKey(`words-${prompt.length}`);
    await make(prompt, key);
    const count = async (q: string) => (await search(`q=${encodeURIComponent(q)}&source=history`, key)).length;
    for (const q of found) expect([q, await count(q)]).toEqual([q, 1]);
    for (const q of missing) expect([q, await count(q)]).toEqual([q, 0]);
  });

  it('pages through a search without a gap and without anything twice, however long and unlike the scopes are', async () => {
    const { db } = video.ports;
    const key = await video.makeKey('pager');
    const made = await make('Nothing of the kind', key);
    const { rows } = await db.query<{ id: string }>('SELECT organization_id AS id FROM generations WHERE id = $1', [
      made.id,
    ]);
    await db.query(`UPDATE video_assets SET place = 200000 WHERE generation_id = $1`, [made.id]);
    // The organization's hits are months apart, the community's are rare and lie between them, behind thousands of others.
    await db.query(
      `INSERT INTO generations (id, organization_id, job_id, state, model_name, variant, prompt, request, credits,
         deadline_seconds, queue_tag)
       SELECT 'gen_p' || n, $1, gen_random_uuid(), 'completed', 'm', 'v', '', '{}', 0, 1, 0 FROM generate_series(1, 5100) AS n`,
      [rows[0]!.id],
    );
    await db.query(
      `INSERT INTO video_assets (id, scope, generation_id, asset_id, asset_type, prompt, model_name, metadata, object_key,
         at, search_text, place)
       SELECT 'p' || n, CASE WHEN n <= 100 THEN $1 ELSE '' END, 'gen_p' || n, 'a', 'video', text, 'm', '{}', 'k',
         now() - CASE WHEN n <= 100 THEN n * interval '30 days' ELSE n * interval '12 hours' END, ' ' || text, (5100 - n) * 30
       FROM generate_series(1, 5100) AS n,
         LATERAL (SELECT CASE WHEN n <= 100 OR n % 100 = 0 THEN 'a heron' ELSE 'a gull' END) AS t (text)`,
      [rows[0]!.id],
    );
    const whole = await db.query<{ id: string }>(
      `SELECT id FROM video_assets WHERE search_text LIKE '%heron%' ORDER BY at DESC, id DESC`,
    );
    expect(await readByCursor('/api/assets/search?q=heron&', 20, key)).toEqual(whole.rows.map(({ id }) => id));
    const paged: string[] = [];
    for (let offset = 0, more = true; more; offset += 20) {
      const page = await video.call<{ data: Asset[]; pagination: { has_more: boolean } }>(
        'GET',
        `/api/assets/search?q=heron&limit=20&offset=${offset}`,
        { key },
      );
      paged.push(...page.body.data.map(({ id }) => id));
      more = page.body.pagination.has_more;
    }
    expect(paged).toEqual(whole.rows.map(({ id }) => id));
    expect(await search('q=gull&limit=3&offset=2500', key)).toHaveLength(3);
    // On how many shelves that was; the next one comes behind all of them.
    const next = await make('The last heron', key);
    const shelves = await db.query<{ community: boolean; shelves: number; last: number }>(
      `SELECT scope = '' AS community, count(DISTINCT place / 16384) AS shelves, max(place) AS last FROM video_assets
       WHERE scope IN ('', $1) GROUP BY 1 ORDER BY 1`,
      [rows[0]!.id],
    );
    expect(shelves.rows).toEqual([
      { community: false, shelves: 2, last: 200_001 },
      { community: true, shelves: 10, last: 149_970 },
    ]);
    expect((await search('q=heron&limit=1', key)).map(({ id }) => id)).toEqual([next.id]);
    await db.query(`DELETE FROM generations WHERE id LIKE 'gen_p%'`);
  });

  it.each(['', 'q=x', 'q=%20x%20', 'q=xx&type=audio', 'q=xx&source=mine', 'q=xx&limit=0', 'q=xx&offset=x'])(
    'refuses a search with "%s"',
    async (query) => {
      expect(await video.call('GET', `/api/assets/search?${query}`)).toMatchObject({
        status: 400,
        body: { error: 'validation_error' },
      });
    },
  );

  it('gives a finished video a public page that plays, with tags for previews, until it is revoked', async () => {
    const done = await make('<script>alert("x")</script> & more');
    const page = await fetch(done.share_url!);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const text = await page.text();
    expect(text).not.toContain('<script');
    for (const tag of ['og:title', 'og:video', 'og:image', 'twitter:player']) expect(text).toContain(`"${tag}"`);
    const source = /<source src="([^"]+)" type="video\/mp4"/.exec(text)?.[1];
    const clip = await fetch(source!, { headers: { range: 'bytes=0-9' } });
    expect([clip.status, clip.headers.get('content-range')?.startsWith('bytes 0-9/')]).toEqual([206, true]);
    const poster = /poster="([^"]+)"/.exec(text)?.[1];
    expect((await fetch(poster!)).status).toBe(200);
    const slug = done.share_url!.split('/').at(-1)!;
    expect(slug).toMatch(/^[A-Za-z0-9_-]{22}$/);

    const revoked = await video.call('DELETE', `/api/generations/${done.id}/share`);
    expect(revoked).toMatchObject({ status: 200, body: { id: done.id, share_url: null } });
    for (const path of ['', '/video', '/thumbnail']) expect((await fetch(`${done.share_url}${path}`)).status).toBe(404);
    for (const address of [done.share_url!, `${video.url}/s/short`]) {
      const gone = await fetch(address);
      expect([gone.status, gone.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      expect(gone.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(await gone.text()).toContain('<h1>No video here</h1>');
    }
    expect((await video.finish(done.id)).video_url).toMatch(/^http/);
  });

  it('gives addresses of one hour that cannot be changed', async () => {
    const { video_url: address } = await make('An address');
    const url = new URL(address!);
    const left = Number(url.searchParams.get('expires')) - Date.now() / 1000;
    expect(left).toBeGreaterThan(3500);
    expect(left).toBeLessThanOrEqual(3600);
    url.searchParams.set('expires', String(Number(url.searchParams.get('expires')) + 1));
    expect((await fetch(url)).status).toBe(403);
  });

  it('gives every list by cursor as it does by offset', async () => {
    const key = await video.makeKey('default', ['admin', 'templates:read']);
    const template = { title: 'By cursor', description: null, kind: 'video', modelName: SCRIPTED, featured: true };
    for (let index = 0; index < 3; index += 1) await video.call('POST', '/api/templates', { key, body: template });
    for (let index = 0; index < 3; index += 1) await make(`a cursor number ${index}`);
    for (const path of [
      '/api/templates?q=cursor&',
      '/api/models?',
      '/api/generations?status=completed&',
      '/api/assets/search?q=cursor&source=history&',
    ]) {
      const all = (await video.call<Page>('GET', path)).body.data.map(({ id }) => id);
      expect([path, ...(await readByCursor(path))]).toEqual([path, ...all]);
      expect(all.length).toBeGreaterThanOrEqual(path.startsWith('/api/models') ? 1 : 3);
      expect((await video.call('GET', `${path}cursor=WyJ4Il0`)).status).toBe(400);
    }
  });
});
