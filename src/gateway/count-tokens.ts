import type { FastifyReply, FastifyRequest } from 'fastify';
import { estimateTokens } from '../inference/estimate.ts';
import { inferenceOf, requireModel } from './allowed-models.ts';
import { readBody } from './body.ts';
import { watchClient } from './client-gone.ts';
import type { GatewayDeps } from './deps.ts';
import type { JsonObject } from './dialects/dialect.ts';
import { readMessagesRequest } from './dialects/messages/request.ts';

/** The upstream's count if it has one, otherwise an estimate, marked by the header `x-token-count: estimate`. */
export async function countTokens(
  deps: GatewayDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<JsonObject> {
  const { request: counted, providerOnly } = readMessagesRequest(readBody(request));
  requireModel(deps, request, counted.model);
  const watch = watchClient(reply.raw, deps.closing);
  try {
    const exact = await inferenceOf(deps, request).countTokens(counted, watch.signal);
    if (exact !== undefined && providerOnly === undefined) return { input_tokens: exact };
    void reply.header('x-token-count', 'estimate');
    return { input_tokens: exact ?? estimateTokens(counted) };
  } finally {
    watch.release();
  }
}
