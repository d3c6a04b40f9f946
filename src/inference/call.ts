import type { CallOptions, ModelDelta, ModelRequest } from './model.ts';
import type { Transport } from './transport.ts';
import { readDeltas } from './upstream/dialect.ts';
import type { UpstreamRequest, UpstreamTarget } from './upstream/dialect.ts';
import { DIALECTS } from './upstream/dialects.ts';
import { fitReasoning } from './upstream/effort.ts';
import { endAtStop } from './upstream/stop.ts';

/** Sets the fields that the configuration adds to every body. */
export function addExtraBody(request: UpstreamRequest, { extraBody }: UpstreamTarget): UpstreamRequest {
  return extraBody === undefined ? request : { ...request, body: { ...request.body, ...extraBody } };
}

/** A transport that reports the request ids of its responses. */
export function noteRequestIds(transport: Transport, onRequestId: CallOptions['onRequestId']): Transport {
  if (onRequestId === undefined) return transport;
  return {
    ...transport,
    async post(...call) {
      const response = await transport.post(...call);
      if (response.requestId !== undefined) onRequestId(response.requestId);
      return response;
    },
  };
}

/** One call of one upstream. */
export function callUpstream(
  transport: Transport,
  target: UpstreamTarget,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelDelta> {
  const dialect = DIALECTS[target.format];
  const built = dialect.buildRequest(fitReasoning(request, target), target);
  const sent = addExtraBody(built, target);
  const deltas = readDeltas(() => transport.post(target, sent, signal), dialect.buildReader(target));
  const stop = (request.stop ?? []).filter((sequence) => sequence !== '');
  const isCutThere = dialect.hasStop && stop.length <= (dialect.maxStops ?? Infinity);
  return isCutThere || stop.length === 0 ? deltas : endAtStop(deltas, stop);
}
