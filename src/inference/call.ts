import type { ModelDelta, ModelRequest } from './model.ts';
import type { Transport } from './transport.ts';
import { readDeltas } from './upstream/dialect.ts';
import type { UpstreamRequest, UpstreamTarget } from './upstream/dialect.ts';
import { DIALECTS } from './upstream/dialects.ts';
import { endAtStop } from './upstream/stop.ts';

/** Sets the fields that the configuration adds to every body. */
export function addExtraBody(request: UpstreamRequest, { extraBody }: UpstreamTarget): UpstreamRequest {
  return extraBody === undefined ? request : { ...request, body: { ...request.body, ...extraBody } };
}

/** One call of one upstream. */
export function callUpstream(
  transport: Transport,
  target: UpstreamTarget,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelDelta> {
  const dialect = DIALECTS[target.format];
  const { reasoning: _reasoning, ...plain } = request;
  const asked = target.reasoning === false ? plain : request;
  const built = dialect.buildRequest(asked, target);
  const sent = addExtraBody(built, target);
  const deltas = readDeltas(() => transport.post(target, sent, signal), dialect.buildReader(target));
  const stop = dialect.hasStop ? [] : (request.stop ?? []).filter((sequence) => sequence !== '');
  return stop.length === 0 ? deltas : endAtStop(deltas, stop);
}
