import type { SseEvent } from '../../../inference/upstream/dialect.ts';
import { isRecord, omitUndefined } from '../../../platform/records.ts';
import type { GatewayError } from '../../gateway-error.ts';
import { writeEvent } from '../dialect.ts';
import type { ResponseMeta, PassThrough, JsonObject } from '../dialect.ts';
import { SIGNATURE_PREFIX } from '../signature.ts';
import { describeFailure } from './failure.ts';
import { buildResource } from './resource.ts';
import type { Echo } from './resource.ts';

/** Fields that have no effect, or that only the gateway knows. */
const IGNORED_FIELDS = ['client_metadata', 'service_tier', 'stream_options', 'cache_ttl', 'background'];

/** Items that the gateway must translate. */
const TRANSLATED = new Set(['custom_tool_call', 'custom_tool_call_output']);

/** Providers reject reasoning without a signature, or with one that the gateway packed. */
function isForwardable(item: JsonObject): boolean {
  if (item['type'] !== 'reasoning') return true;
  const signature = item['encrypted_content'];
  return typeof signature === 'string' && signature !== '' && !signature.startsWith(SIGNATURE_PREFIX);
}

function isPlain(body: JsonObject): boolean {
  const tools = Array.isArray(body['tools']) ? body['tools'] : [];
  if (!tools.every((tool) => isRecord(tool) && tool['type'] === 'function')) return false;
  const items = Array.isArray(body['input']) ? body['input'] : [];
  return items.every(
    (item) =>
      isRecord(item) && !TRANSLATED.has(String(item['type'])) && item['namespace'] === undefined && isForwardable(item),
  );
}

/** `output_text`: all texts of a response, joined. */
function joinOutput(response: JsonObject): string {
  const output = Array.isArray(response['output']) ? response['output'] : [];
  return output
    .flatMap((item) => (isRecord(item) && Array.isArray(item['content']) ? item['content'] : []))
    .map((part) => (isRecord(part) && part['type'] === 'output_text' ? String(part['text']) : ''))
    .join('');
}

const ENDS = ['response.completed', 'response.incomplete', 'response.done'];

/** Adds `output_text` to the final response. SDKs of the format compute it; the gateway's contract includes it. */
function addOutputText(event: SseEvent): string {
  const { data } = event;
  const isWhole = event.event === undefined && !data.includes('"sequence_number"');
  if (!isWhole && !ENDS.some((type) => event.event === type || data.includes(`"${type}"`))) return data;
  const wire = JSON.parse(data) as JsonObject;
  const response = isWhole ? wire : wire['response'];
  if (!isRecord(response) || response['output_text'] !== undefined) return data;
  response['output_text'] = joinOutput(response);
  return JSON.stringify(wire);
}

/**
 * How the call is forwarded unchanged. Undefined where the gateway must translate: custom tools, namespaces, and
 * signatures that it packed.
 */
export function decidePassThrough(
  body: JsonObject,
  { effort, echo, refusal }: { effort: string; echo: Echo; refusal: GatewayError | undefined },
): PassThrough | undefined {
  if (!isPlain(body)) return undefined;
  return {
    refusal,
    anyOfFormat: refusal !== undefined,
    buildBody(own, { reasoning }) {
      const kept = Object.entries(own).filter(([name]) => !IGNORED_FIELDS.includes(name) && name !== 'reasoning');
      const asked = reasoning ? { reasoning: { ...(isRecord(own['reasoning']) ? own['reasoning'] : {}), effort } } : {};
      return { ...Object.fromEntries(kept), ...asked, store: false };
    },
    open(meta: ResponseMeta) {
      let sequence = -1;
      let id: string | undefined;
      return {
        take(event) {
          sequence = Number(/"sequence_number":\s*(\d+)/.exec(event.data)?.[1] ?? sequence + 1);
          id ??= /"id":\s*"(resp_[^"]*)"/.exec(event.data)?.[1];
          return addOutputText(event);
        },
        fail(fault: GatewayError) {
          const error = describeFailure(fault);
          const response = buildResource(meta, echo, {
            status: 'failed',
            model: '',
            error,
            ...omitUndefined({ id }),
          });
          return writeEvent('response.failed', { type: 'response.failed', sequence_number: sequence + 1, response });
        },
      };
    },
  };
}
