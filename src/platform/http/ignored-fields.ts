import type { FastifyReply } from 'fastify';

/** The response header that names the query parameters and the fields of the body that were ignored. */
export const IGNORED_FIELDS_HEADER = 'x-capstan-ignored-fields';

/**
 * Names what was ignored of a request, at most 20: fields of its body as paths such as `tools[0].configs[0].permision`,
 * query parameters as `?limt`. Without any there is no header. `listIgnoredFields` finds them for a schema.
 */
export function nameIgnoredFields(reply: FastifyReply, fields: readonly string[]): void {
  if (fields.length > 0) reply.header(IGNORED_FIELDS_HEADER, fields.slice(0, 20).join(', '));
}
