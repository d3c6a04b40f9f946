import type { FastifyRequest } from 'fastify';
import type { ModelInfo } from '../inference/model.ts';
import type { GatewayDeps } from './deps.ts';
import type { JsonObject } from './dialects/dialect.ts';
import { inferenceOf, mayUse, requireModel } from './allowed-models.ts';

/** One record for clients of every format. The creation time is unknown; clients require one, so it is 0. */
export function buildModelRecord(info: ModelInfo): JsonObject {
  const slash = info.name.indexOf('/');
  return {
    id: info.name,
    object: 'model',
    created: 0,
    owned_by: slash === -1 ? 'capstan' : info.name.slice(0, slash),
    type: 'model',
    display_name: info.name,
    created_at: new Date(0).toISOString(),
    context_window: info.contextWindow,
    max_output_tokens: info.maxOutputTokens ?? null,
    price: info.price ?? null,
    reasoning: info.efforts === undefined ? null : { efforts: info.efforts },
    modalities: { input: info.vision ? ['text', 'image'] : ['text'], output: ['text'] },
  };
}

/** The models that the key of the request may use. */
export function listModels(deps: GatewayDeps, request: FastifyRequest): JsonObject {
  const data = inferenceOf(deps, request)
    .listModels()
    .filter(({ name }) => mayUse(request, name))
    .map(buildModelRecord);
  return {
    object: 'list',
    data,
    has_more: false,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
  };
}

/** Also finds models that a provider serves without listing them. Throws `model_not_found`. */
export function getModel(deps: GatewayDeps, request: FastifyRequest, name: string): JsonObject {
  return buildModelRecord(requireModel(deps, request, name));
}
