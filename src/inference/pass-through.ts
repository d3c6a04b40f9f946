import type { WireFormat } from './config.ts';
import type { ModelDelta, ModelRequest } from './model.ts';
import { spliceObject } from './splice.ts';
import type { RawObject } from './splice.ts';
import type { Transport } from './transport.ts';
import { DIALECTS } from './upstream/dialects.ts';
import type { SseEvent, UpstreamTarget } from './upstream/dialect.ts';

/** The upstream of a forwarded call: the `translated` body, and whether it accepts a reasoning effort. */
export type PassThroughTarget = { translated: Record<string, unknown>; reasoning: boolean };

/** A caller's request that is forwarded unchanged to an upstream of the same format, with these headers. */
export type PassThroughCall = {
  format: WireFormat;
  headers: Record<string, string>;
  /** the raw request; unchanged parts are copied, not serialized again */
  raw?: RawObject | undefined;
  buildBody(target: PassThroughTarget): Record<string, unknown>;
};

/** One unchanged event of the upstream and its meaning. A reply that is not streamed is one event. */
export type PassThroughEvent = { event: SseEvent; deltas: ModelDelta[] };

/** One call of one upstream. */
export type UpstreamCall = {
  transport: Transport;
  target: UpstreamTarget;
  request: ModelRequest;
  signal: AbortSignal;
};

/** Forwards a reply event by event, and parses it to count usage and to detect failures and truncation. */
export async function* callPassThrough(
  { transport, target, request, signal }: UpstreamCall,
  passThrough: PassThroughCall,
): AsyncGenerator<PassThroughEvent> {
  const dialect = DIALECTS[target.format];
  // The conversation is forwarded, not translated.
  const withoutConversation = { ...request, messages: [], tools: [] };
  const { path, headers, body: translated } = dialect.buildRequest(withoutConversation, target);
  const body = {
    ...passThrough.buildBody({ translated, reasoning: target.reasoning !== false }),
    model: target.model,
    ...target.extraBody,
  };
  const response = await transport.post(
    target,
    {
      path,
      headers: { ...passThrough.headers, ...headers },
      body,
      bytes: passThrough.raw && spliceObject(passThrough.raw, body),
    },
    signal,
  );
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

/** Whether the event contains nothing of the reply yet, so that another upstream may still be tried. */
export function isSilentEvent({ deltas }: PassThroughEvent): boolean {
  return deltas.every((delta) => delta.type === 'start');
}
