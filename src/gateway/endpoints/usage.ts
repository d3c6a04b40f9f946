import { buildEventReader } from '../../inference/sse.ts';
import { isRecord } from '../../platform/records.ts';
import type { EndpointUsage } from './endpoint.ts';

/** The first of these that is a count. */
function pick(usage: Record<string, unknown>, names: readonly string[]): number {
  for (const name of names) {
    const value = usage[name];
    if (typeof value === 'number' && value > 0 && Number.isFinite(value)) return Math.round(value);
  }
  return 0;
}

function findStreamedUsage(text: string): EndpointUsage | undefined {
  if (!text.includes('"usage"') && !text.includes('"meta"')) return undefined;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isRecord(body) ? findUsage(body) : undefined;
}

/** The usage in a response or a streamed event; undefined if there is none. */
export function findUsage(body: Record<string, unknown>): EndpointUsage | undefined {
  const meta = isRecord(body['meta']) && isRecord(body['meta']['tokens']) ? body['meta']['tokens'] : undefined;
  const usage = isRecord(body['usage']) ? body['usage'] : meta;
  if (usage === undefined) return undefined;
  const output = pick(usage, ['completion_tokens', 'output_tokens']);
  const input = pick(usage, ['prompt_tokens', 'input_tokens']);
  return { input: input === 0 && output === 0 ? pick(usage, ['total_tokens']) : input, output };
}

/** Finds the usage in an event stream while it is forwarded. */
export class StreamUsage {
  readonly #reader = buildEventReader();
  #usage: EndpointUsage | undefined;

  push(chunk: Uint8Array): void {
    const events: { data: string }[] = [];
    this.#reader.push(chunk, events);
    for (const { data } of events) this.#usage = findStreamedUsage(data) ?? this.#usage;
  }

  get usage(): EndpointUsage | undefined {
    return this.#usage;
  }
}
