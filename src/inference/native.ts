import type { WireFormat } from '../contract/config.ts';
import type { ModelDelta, ModelRequest } from './model.ts';
import type { Transport } from './transport.ts';
import { DIALECTS } from './upstream/dialects.ts';
import type { SseEvent, UpstreamTarget } from './upstream/dialect.ts';

/** A caller's request as it came, for an upstream of the same format. `headers` go along. */
export type NativeCall = { format: WireFormat; body: Record<string, unknown>; headers: Record<string, string> };

/** One event of the upstream as it came, and what it says. A reply that is no stream is one event. */
export type NativeEvent = { event: SseEvent; deltas: ModelDelta[] };

/** Fields that are the gateway's own, each in the way that the upstream knows it. */
function buildBody(native: NativeCall, request: ModelRequest, target: UpstreamTarget): Record<string, unknown> {
  const { reasoning, cache_ttl: _ttl, ...body } = native.body;
  if (native.format !== 'chat-completions') return { ...native.body, model: target.model };
  const { reasoning_effort, max_tokens, max_completion_tokens } = DIALECTS[native.format].buildRequest(
    request,
    target,
  ).body;
  return {
    ...body,
    model: target.model,
    ...(reasoning === undefined ? {} : { reasoning_effort }),
    // Which of the two an upstream takes depends on the model.
    ...(request.maxOutputTokens === undefined ? {} : { max_tokens, max_completion_tokens }),
    ...(body['stream'] === true
      ? { stream_options: { ...(body['stream_options'] as object), include_usage: true } }
      : {}),
  };
}

/** The reply event by event, read along: usage is counted, and a failure or a cut is seen. */
export async function* callNative(
  transport: Transport,
  target: UpstreamTarget,
  native: NativeCall,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<NativeEvent> {
  const dialect = DIALECTS[target.format];
  const { path, headers } = dialect.buildRequest(request, target);
  const body = buildBody(native, request, target);
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
