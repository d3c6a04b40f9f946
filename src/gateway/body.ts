import { isAscii, isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isRecord } from '../platform/records.ts';
import type { JsonObject } from './dialects/dialect.ts';
import { GatewayError } from './gateway-error.ts';

/** Bytes of a request body, including images. */
export const BODY_LIMIT = 4 * 1024 * 1024;

function malformed(message: string): GatewayError {
  return new GatewayError('invalid_request', message);
}

declare module 'fastify' {
  interface FastifyRequest {
    /** bytes of the raw body */
    bodyBytes: number;
    /** the unparsed JSON body, until it has been sent on */
    rawBody: Buffer | undefined;
  }
}

/** Accepts JSON objects only. Compressed bodies are rejected, because the limit counts bytes on the wire. */
export function registerBodyParser(app: FastifyInstance): void {
  app.decorateRequest('bodyBytes', 0);
  app.decorateRequest('rawBody', undefined);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    request.bodyBytes = body.length;
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      return done(malformed('header.content-encoding: compressed requests are not accepted'));
    }
    // Some clients declare the type of a body that they do not send.
    if (body.length === 0 && request.method === 'DELETE') return done(null, undefined);
    if (!isUtf8(body)) return done(malformed('body: must be UTF-8'));
    try {
      // A text of one byte per character needs no decoding.
      const parsed: unknown = JSON.parse(isAscii(body) ? body.toString('latin1') : body.toString('utf8'));
      request.rawBody = body;
      done(null, parsed);
    } catch {
      // The parser's own message quotes the body.
      done(malformed('body: must be valid JSON'));
    }
  });
}

/** Forms are kept as bytes; the handler reads them. */
export function registerFormParser(app: FastifyInstance): void {
  app.addContentTypeParser<Buffer>('multipart/form-data', { parseAs: 'buffer' }, (request, body, done) => {
    request.bodyBytes = body.length;
    done(null, body);
  });
}

export function readBody(request: FastifyRequest): JsonObject {
  if (!isRecord(request.body)) throw malformed('body: must be a JSON object');
  return request.body;
}
