import type { WireFormat } from './config.ts';
import type { ModelDelta, ModelRequest } from './model.ts';
import type { Transport } from './transport.ts';
import { DIALECTS } from './upstream/dialects.ts';
import type { SseEvent, UpstreamTarget } from './upstream/dialect.ts';

/** What an upstream is, to a call that goes there as it came: its `translated` body, and whether it takes an effort. */
export type NativeTarget = { translated: Record<string, unknown>; reasoning: boolean };

/** A caller's request as it came, for an upstream of the same format. `headers` go along. */
export type NativeCall = {
  format: WireFormat;
  headers: Record<string, string>;
  buildBody(target: NativeTarget): Record<string, unknown>;
};

/** One event of the upstream as it came, and what it says. A reply that is no stream is one event. */
export type NativeEvent = { event: SseEvent; deltas: ModelDelta[] };

/** One call of one upstream. */
export type UpstreamCall = {
  transport: Transport;
  target: UpstreamTarget;
  request: ModelRequest;
  signal: AbortSignal;
};

/** The reply event by event, read along: usage is counted, and a failure or a cut is seen. */
export async function* callNative(
  { transport, target, request, signal }: UpstreamCall,
  native: NativeCall,
): AsyncGenerator<NativeEvent> {
  const dialect = DIALECTS[target.format];
  // What was said goes as it came.
  const unsaid = { ...request, messages: [], tools: [] };
  const { path, headers, body: translated } = dialect.buildRequest(unsaid, target);
  const body = { ...native.buildBody({ translated, reasoning: target.reasoning !== false }), model: target.model };
  const response = await transport.post(target, { path, headers: { ...native.headers, ...headers }, body }, signal);
  const reader = dialect.buildReader(target);
  for await (const event of response.events) {
    const deltas: ModelDelta[] = [];
    const complete = reader.push(event, deltas);
    if (complete) response.complete();
    yield { event, deltas };
    if (complete) return;
  }
  const deltas: ModelDelta[] = [];
  reader.end(deltas);
  yield { event: { data: '' }, deltas };
}

/** Whether nothing of a reply has come yet, so that another upstream may still be asked. */
export function isSilentEvent({ deltas }: NativeEvent): boolean {
  return deltas.every((delta) => delta.type === 'start');
}
