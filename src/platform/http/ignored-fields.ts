import type { FastifyReply } from 'fastify';

/** The response header that names the fields of the body that were ignored. */
export const IGNORED_FIELDS_HEADER = 'x-capstan-ignored-fields';

/**
 * Names fields of the request's body that were ignored, as paths such as `tools[0].configs[0].permision`; nothing when
 * there are none. `listIgnoredFields` finds them for a schema.
 */
export function nameIgnoredFields(reply: FastifyReply, fields: readonly string[]): void {
  if (fields.length > 0) reply.header(IGNORED_FIELDS_HEADER, fields.slice(0, 20).join(', '));
}
