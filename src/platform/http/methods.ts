import type { FastifyInstance } from 'fastify';
import { errors } from '../errors.ts';

type Known = { pattern: RegExp; methods: string[] };

function buildPattern(url: string): RegExp {
  const steps = url
    .split('/')
    .map((step) => (step.startsWith(':') ? '[^/]+' : step.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')));
  return new RegExp(`^${steps.join('/')}$`);
}

/** Answers what no route matches: 405 with `Allow` when the path exists under other methods, else 404. */
export function registerUnknownRoutes(app: FastifyInstance): void {
  const known = new Map<string, Known>();
  app.addHook('onRoute', ({ url, method }) => {
    const entry = known.get(url) ?? { pattern: buildPattern(url), methods: [] };
    known.set(url, { ...entry, methods: [...entry.methods, ...[method].flat()] });
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = [...known.values()].filter(({ pattern }) => pattern.test(path)).flatMap((entry) => entry.methods);
    if (methods.length === 0) throw errors.notFound('route');
    void reply.header('allow', [...new Set(methods)].sort().join(', '));
    throw errors.methodNotAllowed();
  });
}
