import type { FastifyInstance } from 'fastify';
import { errors } from '../errors.ts';

/** JSON only. An empty body is no body, whatever its declared type: clients send the header with every POST. */
export function registerBodyParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parseJson = app.getDefaultJsonParser('error', 'ignore');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null, undefined);
    void parseJson(request, body as string, (error, value) => {
      // The parser's own message quotes what it could not read.
      done(error && errors.validation('body: must be valid JSON'), value);
    });
  });
}
