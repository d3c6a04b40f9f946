import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isRecord } from '../platform/records.ts';
import type { Wire } from './dialects/dialect.ts';
import { GatewayError } from './gateway-error.ts';

/** Bytes of a request as they come, images and all. */
export const BODY_LIMIT = 4 * 1024 * 1024;

function malformed(message: string): GatewayError {
  return new GatewayError('invalid_request', message);
}

declare module 'fastify' {
  interface FastifyRequest {
    /** bytes of the body as it came */
    bodyBytes: number;
  }
}

/** JSON objects only. Compressed bodies are refused: the limit counts what comes over the wire. */
export function registerBodyParser(app: FastifyInstance): void {
  app.decorateRequest('bodyBytes', 0);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    request.bodyBytes = body.length;
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      return done(malformed('header.content-encoding: compressed requests are not accepted'));
    }
    if (!isUtf8(body)) return done(malformed('body: must be UTF-8'));
    try {
      done(null, JSON.parse(body.toString('utf8')));
    } catch {
      // The parser's own message quotes what it could not read.
      done(malformed('body: must be valid JSON'));
    }
  });
}

export function readBody(request: FastifyRequest): Wire {
  if (!isRecord(request.body)) throw malformed('body: must be a JSON object');
  return request.body;
}
