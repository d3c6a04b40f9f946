import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Objects, SignedUse } from '../objects/objects.ts';
import { ApiError, errors } from '../errors.ts';
import { decideRange } from './range.ts';
import type { RoutePlugin } from './server.ts';

/** Served with a safe type or as a download: a caller's page must not run on this origin. */
const POLICY = { 'content-security-policy': "default-src 'none'; sandbox", 'x-content-type-options': 'nosniff' };

/** Serves signed addresses of a store that has no server of its own; nothing where it has one. Open, without a key. */
export function buildObjectRoutes(objects: Objects): RoutePlugin {
  return (app) => {
    if (objects.readSigned === undefined) return;
    /** keys of uploads under way */
    const uploading = new Set<string>();
    const read = (method: 'GET' | 'PUT', request: FastifyRequest): SignedUse => {
      const use = objects.readSigned?.(method, request.url);
      if (use === undefined) throw errors.forbidden('The address has expired or is not as it was given.');
      return use;
    };

    void app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, body, done) => done(null, body));

      scope.get('/objects/*', async (request, reply) => {
        const { key, fileName } = read('GET', request);
        const info = await objects.head(key);
        if (info === undefined) throw errors.notFound('object');
        const part = decideRange(request.headers.range, info.sizeBytes);
        if (part === 'unsatisfiable') {
          void reply.header('content-range', `bytes */${info.sizeBytes}`);
          throw new ApiError('range_not_satisfiable', `The object has ${info.sizeBytes} bytes.`);
        }
        const end = part === undefined ? undefined : part.offset + part.length - 1;
        const object = await objects.get(key, part && { start: part.offset, end: end ?? 0 });
        if (object === undefined) throw errors.notFound('object');
        return reply
          .code(part === undefined ? 200 : 206)
          .headers({
            ...POLICY,
            'content-type': info.contentType,
            'content-length': String(object.contentLength),
            'accept-ranges': 'bytes',
            'cache-control': 'private, max-age=3600',
            ...(fileName === undefined ? {} : { 'content-disposition': `inline; filename="${fileName}"` }),
            ...(part === undefined ? {} : { 'content-range': `bytes ${part.offset}-${end}/${info.sizeBytes}` }),
          })
          .send(object.body);
      });

      scope.put('/objects/*', { bodyLimit: Number.MAX_SAFE_INTEGER }, async (request, reply) => {
        const { key, contentType, sizeBytes } = read('PUT', request);
        const type = request.headers['content-type'] ?? '';
        if (contentType !== undefined && type !== contentType) {
          throw errors.validation(`header.content-type: must be ${contentType}`);
        }
        if (sizeBytes !== undefined && Number(request.headers['content-length']) !== sizeBytes) {
          throw errors.validation(`header.content-length: must be ${sizeBytes}`);
        }
        // Only once: a file that passed the checks must not be replaced by someone with the URL.
        if (uploading.has(key)) throw errors.conflict('The address is in use by another upload.');
        uploading.add(key);
        try {
          if ((await objects.head(key)) !== undefined) throw errors.conflict('The address was used before.');
          await objects.put(key, request.body as Readable, { contentType: type });
        } finally {
          uploading.delete(key);
        }
        return reply.code(200).send();
      });
    });
  };
}
