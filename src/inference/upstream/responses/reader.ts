import { newId } from '../../../platform/ids.ts';
import { buildUpstreamError } from '../../upstream-error.ts';
import type { FinishReason, ModelDelta, ModelUsage } from '../../model.ts';
import type { DeltaReader, SseEvent, UpstreamTarget } from '../dialect.ts';
import { asCount, asList, asText, asObject, cutOff, decideFinish, parseObject } from '../wire.ts';
import type { JsonObject } from '../wire.ts';
import { ItemLog } from './items.ts';

function readUsage(value: unknown): ModelUsage {
  const usage = asObject(value) ?? {};
  const input = asObject(usage.input_tokens_details);
  return {
    input: asCount(usage.input_tokens),
    output: asCount(usage.output_tokens),
    cacheRead: asCount(input?.cached_tokens),
    cacheWrite: asCount(input?.cache_write_tokens),
    reasoning: asCount(asObject(usage.output_tokens_details)?.reasoning_tokens),
  };
}

function readFinish(response: JsonObject): FinishReason {
  const reason = asText(asObject(response.incomplete_details)?.reason);
  if (reason === 'content_filter') return 'content_filter';
  return response.status === 'incomplete' || reason !== '' ? 'length' : 'stop';
}

/** Reads one reply of a responses upstream. */
/** Events with the whole response. */
const FINAL: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.done']);

class ResponsesReader implements DeltaReader {
  readonly #target: UpstreamTarget;
  readonly #items: ItemLog;
  #started = false;

  constructor(target: UpstreamTarget) {
    this.#target = target;
    this.#items = new ItemLog(target.name);
  }

  #start(response: JsonObject, out: ModelDelta[]): void {
    if (this.#started) return;
    this.#started = true;
    out.push({ type: 'start', id: asText(response.id) || newId('req'), model: this.#target.name });
  }

  #finish(response: JsonObject, out: ModelDelta[]): true {
    const { error, status } = response;
    if (status === 'failed' || status === 'cancelled' || asObject(error) !== undefined) {
      throw buildUpstreamError(response, this.#target);
    }
    this.#start(response, out);
    asList(response.output).forEach((item, index) => {
      this.#items.complete({ output_index: index }, asObject(item) ?? {}, out);
    });
    const reason = decideFinish(readFinish(response), this.#items.hasCalls(), this.#items.hasRefusal());
    out.push({ type: 'finish', reason, usage: readUsage(response.usage) });
    return true;
  }

  /** The parts of an item in each event. Events of other types are ignored. */
  #pushItem(type: unknown, wire: JsonObject, out: ModelDelta[]): void {
    const items = this.#items;
    switch (type) {
      case 'response.output_item.added':
        return items.open(wire, asObject(wire.item) ?? {}, out);
      case 'response.output_text.delta':
        return items.pushText(wire, asText(wire.delta), out);
      case 'response.output_text.annotation.added':
        return items.pushAnnotation(wire, wire.annotation, out);
      case 'response.refusal.delta':
        return items.pushRefusal(wire, asText(wire.delta), out);
      case 'response.reasoning_summary_text.delta': {
        const place = wire.summary_index === undefined ? { ...wire, summary_index: 0 } : wire;
        return items.pushReasoning(place, asText(wire.delta), out);
      }
      case 'response.reasoning_text.delta':
        return items.pushReasoning(wire, asText(wire.delta), out);
      case 'response.function_call_arguments.delta':
        return items.pushArguments(wire, asText(wire.delta), out);
      case 'response.function_call_arguments.done':
        return items.completeArguments(wire, wire.arguments, out);
      case 'response.output_item.done':
        return items.complete(wire, asObject(wire.item) ?? {}, out);
    }
  }

  push({ event, data }: SseEvent, out: ModelDelta[]): boolean {
    if (data === '' || data === '[DONE]') return false;
    const wire = parseObject(data);
    if (wire.object === 'response' && wire.type === undefined && event === undefined) return this.#finish(wire, out);
    const type = wire.type ?? event;
    if (type === undefined || type === 'error' || type === 'response.failed') {
      throw buildUpstreamError(asObject(wire.response) ?? wire, this.#target);
    }
    // Some upstreams leave out `response.created`.
    if (!this.#started) this.#start(asObject(wire.response) ?? {}, out);
    if (FINAL.has(type)) return this.#finish(asObject(wire.response) ?? {}, out);
    this.#pushItem(type, wire, out);
    return false;
  }

  end(): never {
    throw cutOff();
  }
}

export function buildResponsesReader(target: UpstreamTarget): DeltaReader {
  return new ResponsesReader(target);
}
