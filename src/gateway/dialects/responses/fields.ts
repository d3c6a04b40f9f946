import { unsupported } from '../../gateway-error.ts';
import type { JsonObject } from '../dialect.ts';
import { isAbsent, readObject } from '../fields.ts';

/** Fields of the format that are read, or that are accepted and have no effect. */
const KNOWN = new Set([
  'model',
  'models',
  'input',
  'instructions',
  'stream',
  'max_output_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'temperature',
  'top_p',
  'store',
  'client_metadata',
  'service_tier',
  'include',
  'metadata',
  'user',
  'safety_identifier',
  'truncation',
  'prompt_cache_key',
  'cache_ttl',
  'stream_options',
]);

/** Rejected fields. SDKs may send their empty value, `null` or `empty`. */
const REFUSED: Record<string, { empty?: unknown; reason: string }> = {
  previous_response_id: { reason: 'nothing is stored here; send the conversation whole' },
  conversation: { reason: 'nothing is stored here; send the conversation whole' },
  background: { empty: false, reason: 'requests are answered at once' },
  prompt: { reason: 'no prompts are stored here' },
  presence_penalty: { empty: 0, reason: 'is not supported' },
  frequency_penalty: { empty: 0, reason: 'is not supported' },
  max_tool_calls: { reason: 'no tools run here' },
  top_logprobs: { empty: 0, reason: 'is not supported' },
  context_management: { reason: 'is not supported' },
  moderation: { reason: 'is not supported' },
  prompt_cache_retention: { reason: 'is not supported; cache_ttl is' },
};

/** Rejects unknown fields: ignoring one silently would change the meaning of the request. */
export function checkFields(body: JsonObject): void {
  for (const [name, value] of Object.entries(body)) {
    if (KNOWN.has(name)) continue;
    const refused = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
    if (refused === undefined) throw unsupported(name.slice(0, 100), 'is not a field of this format');
    if (!isAbsent(value) && value !== refused.empty) throw unsupported(name, refused.reason);
  }
  if (body['store'] === true) throw unsupported('store', 'nothing is stored here; it must be false');
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
