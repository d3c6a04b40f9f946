import { newId } from '../../../platform/ids.ts';
import { buildUpstreamError } from '../../upstream-error.ts';
import type { FinishReason, ModelDelta, ModelUsage } from '../../model.ts';
import type { DeltaReader, UpstreamTarget } from '../dialect.ts';
import { asCount, asList, asText, asWire, cutOff, decideFinish, parseWire } from '../wire.ts';
import type { Wire } from '../wire.ts';
import { buildItemLog } from './items.ts';

function readUsage(value: unknown): ModelUsage {
  const usage = asWire(value) ?? {};
  const input = asWire(usage.input_tokens_details);
  return {
    input: asCount(usage.input_tokens),
    output: asCount(usage.output_tokens),
    cacheRead: asCount(input?.cached_tokens),
    cacheWrite: asCount(input?.cache_write_tokens),
    reasoning: asCount(asWire(usage.output_tokens_details)?.reasoning_tokens),
  };
}

function readFinish(response: Wire): FinishReason {
  const reason = asText(asWire(response.incomplete_details)?.reason);
  if (reason === 'content_filter') return 'content_filter';
  return response.status === 'incomplete' || reason !== '' ? 'length' : 'stop';
}

export function buildResponsesReader(target: UpstreamTarget): DeltaReader {
  const items = buildItemLog(target.name);
  let started = false;

  function start(response: Wire, out: ModelDelta[]): void {
    if (started) return;
    started = true;
    out.push({ type: 'start', id: asText(response.id) || newId('req'), model: target.name });
  }

  function finish(response: Wire, out: ModelDelta[]): true {
    const { error, status } = response;
    if (status === 'failed' || status === 'cancelled' || asWire(error) !== undefined)
      throw buildUpstreamError(response, target);
    start(response, out);
    asList(response.output).forEach((item, index) => {
      items.complete({ output_index: index }, asWire(item) ?? {}, out);
    });
    const reason = decideFinish(readFinish(response), items.hasCalls(), items.hasRefusal());
    out.push({ type: 'finish', reason, usage: readUsage(response.usage) });
    return true;
  }

  return {
    push({ event, data }, out) {
      if (data === '' || data === '[DONE]') return false;
      const wire = parseWire(data);
      if (wire.object === 'response' && wire.type === undefined && event === undefined) return finish(wire, out);
      const type = wire.type ?? event;
      if (type === undefined || type === 'error' || type === 'response.failed') {
        throw buildUpstreamError(asWire(wire.response) ?? wire, target);
      }
      // An upstream may leave `response.created` out.
      if (!started) start(asWire(wire.response) ?? {}, out);
      switch (type) {
        case 'response.output_item.added':
          items.open(wire, asWire(wire.item) ?? {}, out);
          return false;
        case 'response.output_text.delta':
          items.pushText(wire, asText(wire.delta), out);
          return false;
        case 'response.refusal.delta':
          items.pushRefusal(wire, asText(wire.delta), out);
          return false;
        case 'response.reasoning_summary_text.delta':
          items.pushReasoning(
            wire.summary_index === undefined ? { ...wire, summary_index: 0 } : wire,
            asText(wire.delta),
            out,
          );
          return false;
        case 'response.reasoning_text.delta':
          items.pushReasoning(wire, asText(wire.delta), out);
          return false;
        case 'response.function_call_arguments.delta':
          items.pushArguments(wire, asText(wire.delta), out);
          return false;
        case 'response.function_call_arguments.done':
          items.completeArguments(wire, wire.arguments, out);
          return false;
        case 'response.output_item.done':
          items.complete(wire, asWire(wire.item) ?? {}, out);
          return false;
        case 'response.completed':
        case 'response.incomplete':
        case 'response.done':
          return finish(asWire(wire.response) ?? {}, out);
      }
      return false;
    },
    end() {
      throw cutOff();
    },
  };
}
