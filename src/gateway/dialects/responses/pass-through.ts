import type { SseEvent } from '../../../inference/upstream/dialect.ts';
import { isRecord, omitUndefined } from '../../../platform/records.ts';
import type { GatewayError } from '../../gateway-error.ts';
import { writeEvent } from '../dialect.ts';
import type { Moment, PassThrough, Wire } from '../dialect.ts';
import { PROOF_PREFIX } from '../proof.ts';
import { describeFailure } from './failure.ts';
import { buildResource } from './resource.ts';
import type { Echo } from './resource.ts';

/** Fields that have no effect here, or that only the gateway knows. */
const IDLE = ['client_metadata', 'service_tier', 'stream_options', 'cache_ttl', 'background'];

/** Items that the gateway turns into something else. */
const TRANSLATED = new Set(['custom_tool_call', 'custom_tool_call_output']);

/** Reasoning without a proof, or with one of the gateway's own, is of no use to the provider: it refuses it. */
function isForeign(item: Wire): boolean {
  if (item['type'] !== 'reasoning') return true;
  const proof = item['encrypted_content'];
  return typeof proof === 'string' && proof !== '' && !proof.startsWith(PROOF_PREFIX);
}

function isPlain(body: Wire): boolean {
  const tools = Array.isArray(body['tools']) ? body['tools'] : [];
  if (!tools.every((tool) => isRecord(tool) && tool['type'] === 'function')) return false;
  const items = Array.isArray(body['input']) ? body['input'] : [];
  return items.every(
    (item) =>
      isRecord(item) && !TRANSLATED.has(String(item['type'])) && item['namespace'] === undefined && isForeign(item),
  );
}

/** The texts of a response joined, as clients without an SDK read them. */
function joinOutput(response: Wire): string {
  const output = Array.isArray(response['output']) ? response['output'] : [];
  return output
    .flatMap((item) => (isRecord(item) && Array.isArray(item['content']) ? item['content'] : []))
    .map((part) => (isRecord(part) && part['type'] === 'output_text' ? String(part['text']) : ''))
    .join('');
}

const ENDS = ['response.completed', 'response.incomplete', 'response.done'];

/** Its end gets what the format's SDKs add by themselves and this service promises: `output_text`. */
function addOutputText(event: SseEvent): string {
  const { data } = event;
  const isWhole = event.event === undefined && !data.includes('"sequence_number"');
  if (!isWhole && !ENDS.some((type) => event.event === type || data.includes(`"${type}"`))) return data;
  const wire = JSON.parse(data) as Wire;
  const response = isWhole ? wire : wire['response'];
  if (!isRecord(response) || response['output_text'] !== undefined) return data;
  response['output_text'] = joinOutput(response);
  return JSON.stringify(wire);
}

/**
 * A call that means the same to an upstream of this format, as it came; undefined where the gateway has something to
 * turn around: custom and namespace tools, and proofs of its own.
 */
export function decidePassThrough(body: Wire, effort: string, echo: Echo): PassThrough | undefined {
  if (!isPlain(body)) return undefined;
  return {
    buildBody(own, { reasoning }) {
      const kept = Object.entries(own).filter(([name]) => !IDLE.includes(name) && name !== 'reasoning');
      const asked = reasoning ? { reasoning: { ...(isRecord(own['reasoning']) ? own['reasoning'] : {}), effort } } : {};
      return { ...Object.fromEntries(kept), ...asked, store: false };
    },
    open(moment: Moment) {
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
          const response = buildResource(moment, echo, {
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
