import type { FastifyInstance, FastifyRequest } from 'fastify';
import { errors } from '../../platform/errors.ts';
import { findSharedGeneration } from '../store/generations.ts';
import type { VideoDeps } from '../deps.ts';
import { signResult } from '../generations/generation-record.ts';
import { findBase } from '../../platform/http/public-base.ts';
import { renderNoPage, renderSharePage } from './page.ts';

/** The page contains no script. Its video may come from another origin, if the object store has its own server. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; media-src 'self' http: https:; img-src 'self' http: https:; base-uri 'none'";
const HEADERS = { 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' };
const SLUG = /^[A-Za-z0-9_-]{16,64}$/;

/** Public pages of finished videos. Their addresses cannot be guessed and need no key; they work until revoked. */
export function registerSharePages(app: FastifyInstance, deps: VideoDeps): void {
  const { db, settings } = deps;

  const find = async (request: FastifyRequest) => {
    const { slug } = request.params as { slug: string };
    const generation = SLUG.test(slug) ? await findSharedGeneration(db, slug) : undefined;
    return generation && { slug, generation, base: findBase(request, settings.publicUrl) };
  };

  app.get('/s/:slug', async (request, reply) => {
    const found = await find(request);
    void reply.type('text/html; charset=utf-8').headers(HEADERS);
    if (found === undefined) return reply.code(404).send(renderNoPage());
    return reply.send(renderSharePage(found.base, found.slug, found.generation));
  });

  const redirect = (name: 'video' | 'thumbnail') =>
    app.get(`/s/:slug/${name}`, async (request, reply) => {
      const found = await find(request);
      const key = name === 'video' ? found?.generation.videoKey : found?.generation.thumbnailKey;
      if (found === undefined || key === undefined || key === null) throw errors.notFound('page');
      return reply.header('cache-control', 'no-store').redirect(await signResult(deps, found.base, key), 302);
    });
  redirect('video');
  redirect('thumbnail');
}
