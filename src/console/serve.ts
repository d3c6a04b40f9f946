import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errors } from '../platform/errors.ts';
import type { RoutePlugin } from '../platform/http/server.ts';
import type { Logger } from '../platform/log.ts';
import { OUTPUT, buildConsole, hashSources, readManifest } from './build.ts';
import type { Manifest } from './build.ts';

/** Forbids inline code, other hosts, and any conversion of strings to markup or code. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "frame-src 'self'",
  "worker-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types capstan-worker',
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};
const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};
const ENCODINGS = [
  ['br', 'br'],
  ['gzip', 'gz'],
] as const;
const IMMUTABLE = 'public, max-age=31536000, immutable';
/** Delay before a new build after a failed one, in ms. */
const RETRY_MS = 10_000;

export type ConsoleOptions = {
  log: Logger;
  /** the public address of this server; the console finds the API under its path */
  publicUrl?: string | undefined;
};

/** The page that explains how to build the console, if it is neither built nor can be built. */
const MISSING = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Capstan</title>
<h1>The console is not built</h1>
<p>Install the development dependencies with <code>npm ci</code>, or build it with
<code>node src/console/build.ts</code>, and reload this page. The API works without it.</p>
<p><a href="../docs">API reference</a></p></html>`;

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1c5bc4"/>
<path d="M9 7h14v4H9zM11 11h10l-2 5 2 5H11l2-5zM7 21h18v4H7z" fill="#fff"/></svg>`;

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

/** `/a/b` of `https://host/a/b/`; empty at the top. */
export function readBasePath(publicUrl: string | undefined): string {
  return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/(?<!\/)\/+$/, '');
}

function renderIndex({ script, style, hash, initial }: Manifest, basePath: string): string {
  const base = escapeAttribute(`${basePath}/console/`);
  // Without preloads, the browser finds a chunk only after reading the script that imports it.
  const chunks = initial.filter((name) => name !== script && name.endsWith('.js'));
  const preloads = chunks.map((name) => `<link rel="modulepreload" href="assets/${name}">\n`).join('');
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Capstan</title>
<base href="${base}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="capstan-build" content="${hash}">
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="assets/${style}">
${preloads}<script type="module" src="assets/${script}"></script>
<body><noscript>The console needs JavaScript.</noscript><div id="root"></div></body>
</html>
`;
}

/** Serves the existing build, unless the sources differ from it and can be built. */
async function findBuild(log: Logger): Promise<Manifest | undefined> {
  const built = await readManifest();
  if (built?.hash === (await hashSources())) return built;
  try {
    const begun = performance.now();
    const manifest = await buildConsole();
    log.info({ ms: Math.round(performance.now() - begun) }, 'console built');
    return manifest;
  } catch (error) {
    if (built === undefined) log.warn({ err: error }, 'the console cannot be built');
    return built;
  }
}

/** One build for all requests. A failed build is retried after `RETRY_MS`. */
function openBuild(log: Logger): () => Promise<Manifest | undefined> {
  let build: Promise<Manifest | undefined> | undefined;
  let failedAt = -Infinity;
  return async () => {
    if (build === undefined && performance.now() - failedAt < RETRY_MS) return undefined;
    const current = (build ??= findBuild(log));
    const manifest = await current;
    if (manifest === undefined && build === current) {
      build = undefined;
      failedAt = performance.now();
    }
    return manifest;
  };
}

function chooseEncoding(request: FastifyRequest): readonly [encoding: string, suffix: string] | undefined {
  const accepted = (request.headers['accept-encoding'] ?? '').split(/[,;\s]+/);
  return ENCODINGS.find(([name]) => accepted.includes(name));
}

async function sendAsset(manifest: Manifest | undefined, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { name = '' } = request.params as { name?: string };
  if (manifest === undefined || !Object.hasOwn(manifest.files, name)) throw errors.notFound('asset');
  const encoding = chooseEncoding(request);
  const body = await readFile(join(OUTPUT, encoding === undefined ? name : `${name}.${encoding[1]}`));
  void reply.headers({
    ...HEADERS,
    ...(encoding === undefined ? {} : { 'content-encoding': encoding[0] }),
    vary: 'accept-encoding',
    'cache-control': IMMUTABLE,
    'content-type': TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
  });
  await reply.send(body);
}

/** The web console below `/console/`. It needs no key: the page holds no data and gets all of it from the API. */
export function buildConsoleRoutes({ log, publicUrl }: ConsoleOptions): RoutePlugin {
  const basePath = readBasePath(publicUrl);
  return (app) => {
    const getBuild = openBuild(log);
    const sendIndex = async (_request: FastifyRequest, reply: FastifyReply) => {
      const manifest = await getBuild();
      void reply.headers({ ...HEADERS, 'cache-control': 'no-store', 'content-type': 'text/html; charset=utf-8' });
      if (manifest === undefined) return await reply.code(503).send(MISSING);
      return await reply.send(renderIndex(manifest, basePath));
    };
    app.get('/console', (_request, reply) => reply.redirect(`${basePath}/console/`));
    app.get('/console/assets/:name', async (request, reply) => sendAsset(await getBuild(), request, reply));
    app.get('/console/icon.svg', (_request, reply) =>
      reply
        .headers({ ...HEADERS, 'cache-control': 'public, max-age=86400', 'content-type': 'image/svg+xml' })
        .send(ICON),
    );
    app.get('/console/', sendIndex);
    app.get('/console/*', sendIndex);
  };
}
