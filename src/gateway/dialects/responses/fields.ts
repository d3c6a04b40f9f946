import { findRefused } from '../../fields/apply.ts';
import { RESPONSES_FIELDS } from '../../fields/responses.ts';
import { unsupported } from '../../gateway-error.ts';
import type { GatewayError } from '../../gateway-error.ts';
import type { JsonObject } from '../dialect.ts';
import { isAbsent, readObject } from '../fields.ts';

const LOGPROBS = 'message.output_text.logprobs';

/**
 * Rejects unknown fields: ignoring one silently would change the meaning of the request. Returns the error for
 * upstreams of other formats, if a field needs an upstream of this format.
 */
export function checkFields(body: JsonObject): GatewayError | undefined {
  for (const name of Object.keys(body)) {
    if (!Object.hasOwn(RESPONSES_FIELDS, name)) throw unsupported(name.slice(0, 100), 'is not a field of this format');
  }
  if (body['store'] === true) throw unsupported('store', 'nothing is stored here; it must be false');
  const refused = findRefused('responses', body);
  if (refused !== undefined && !refused.forwarded) throw refused.error;
  const { include } = body;
  if (refused === undefined && Array.isArray(include) && include.includes(LOGPROBS)) {
    return unsupported(`include[${include.indexOf(LOGPROBS)}]`, 'only providers with the format responses support it');
  }
  return refused?.error;
}

/** The fields of an object; throws for any that is not in `known`. */
export function readStrict(value: unknown, path: string, known: readonly string[]): JsonObject {
  if (isAbsent(value)) return {};
  const object = readObject(value, path);
  for (const name of Object.keys(object)) {
    if (!known.includes(name)) throw unsupported(`${path}.${name.slice(0, 100)}`, 'is not supported');
  }
  return object;
}
