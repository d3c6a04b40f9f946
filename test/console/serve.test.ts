import { afterAll, beforeAll, expect, test } from 'vitest';
import { readManifest } from '../../src/console/build.ts';
import { startServer } from '../cli/server.ts';
import type { CliServer } from '../cli/server.ts';

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const MAX_INITIAL = 190 * 1024;
const MAX_CHUNK = 110 * 1024;
const MAX_TOTAL = 1.5 * 1024 * 1024;

let server: CliServer;
beforeAll(async () => {
  server = await startServer({ CAPSTAN_PUBLIC_URL: 'https://example.com/a/b/' });
});
afterAll(() => server.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}${path}`, { headers, redirect: 'manual' });

test('a browser at / is redirected to the console, a program gets an index', async () => {
  const browser = await get('/', { accept: HTML });
  expect([browser.status, browser.headers.get('location')]).toEqual([302, 'console/']);
  for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5']) {
    const program = await get('/', { accept });
    expect(await program.json()).toMatchObject({
      name: 'Capstan',
      docs: '/docs',
      console: '/console',
      openapi: '/openapi.json',
    });
  }
});

test('the page has a strict policy, is never stored, and knows the path of a proxy', async () => {
  const response = await get('/console/sessions/ses_1?view=raw', { accept: HTML });
  expect(response.status).toBe(200);
  const { headers } = response;
  expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'");
  expect(headers.get('content-security-policy')).not.toMatch(/unsafe|nonce|https?:/);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  const text = await response.text();
  expect(text).toContain('<base href="/a/b/console/">');
  expect(text).not.toMatch(/<script(?! type="module" src="assets\/main-[A-Z0-9]+\.js"><\/script>)|style=/);
});

test('assets are immutable and compressed, and other paths are not found', async () => {
  await get('/console/');
  const manifest = await readManifest();
  const { script = '' } = manifest ?? {};
  const response = await get(`/console/assets/${script}`, { 'accept-encoding': 'br' });
  expect(response.headers.get('cache-control')).toContain('immutable');
  expect(response.headers.get('content-encoding')).toBe('br');
  expect((await response.text()).length).toBeGreaterThan(100_000);
  for (const name of ['manifest.json', 'nothing.js', '..%2f..%2fpackage.json', `${script}.br`]) {
    expect((await get(`/console/assets/${name}`)).status).toBe(404);
  }
});

test('the console is small', async () => {
  await get('/console/');
  const manifest = await readManifest();
  const { files = {}, initial = [] } = manifest ?? {};
  const size = (names: readonly string[]) => names.reduce((sum, name) => sum + (files[name]?.gzipBytes ?? 0), 0);
  expect(initial.length).toBeGreaterThan(1);
  expect(size(initial)).toBeLessThanOrEqual(MAX_INITIAL);
  expect(Math.max(...Object.values(files).map(({ gzipBytes }) => gzipBytes))).toBeLessThanOrEqual(MAX_CHUNK);
  expect(Object.values(files).reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(MAX_TOTAL);
});

test('CAPSTAN_CONSOLE=off leaves the API alone', async () => {
  const other = await startServer({ CAPSTAN_CONSOLE: 'off' });
  try {
    expect((await fetch(`${other.url}/console/`)).status).toBe(404);
    const root = await fetch(`${other.url}/`, { headers: { accept: HTML } });
    expect(await root.json()).toMatchObject({ name: 'Capstan' });
  } finally {
    await other.close();
  }
});
