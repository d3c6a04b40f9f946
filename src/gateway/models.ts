import type { FastifyRequest } from 'fastify';
import type { ModelInfo } from '../inference/model.ts';
import type { GatewayDeps } from './deps.ts';
import type { JsonObject } from './dialects/dialect.ts';
import { inferenceOf, mayUse, requireModel } from './allowed-models.ts';

/** A date in a model's name, as 20250929 or 2025-09-29. */
const DATE = /(?<!\d)(20\d{2})(-?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)/;

/** When the model came out, by its name; else since when this process offers it. Unix seconds. */
export function findCreated(name: string): number {
  const [, year, , month, day] = DATE.exec(name) ?? [];
  const released = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  return Math.floor((Number.isNaN(released) ? performance.timeOrigin : released) / 1000);
}

/** One record for clients of every format. */
export function buildModelRecord(info: ModelInfo): JsonObject {
  const slash = info.name.indexOf('/');
  const created = findCreated(info.name);
  return {
    id: info.name,
    object: 'model',
    created,
    owned_by: slash === -1 ? 'capstan' : info.name.slice(0, slash),
    type: 'model',
    display_name: info.name,
    created_at: new Date(created * 1000).toISOString(),
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
