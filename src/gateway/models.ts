import type { ModelInfo } from '../inference/model.ts';
import type { GatewayDeps } from './deps.ts';
import type { Wire } from './dialects/dialect.ts';
import { unknownModel } from './gateway-error.ts';

/** One record for clients of every format. When a model was made is not known: the beginning of time, as clients expect. */
export function buildModelRecord(info: ModelInfo): Wire {
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
    modalities: { input: info.vision ? ['text', 'image'] : ['text'], output: ['text'] },
  };
}

export function listModels({ inference }: GatewayDeps): Wire {
  const data = inference.listModels().map(buildModelRecord);
  return {
    object: 'list',
    data,
    has_more: false,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
  };
}

/** Also for models that no list names but a provider serves. Throws `model_not_found`. */
export function getModel({ inference }: GatewayDeps, name: string): Wire {
  const info = inference.findModel(name);
  if (info === undefined) throw unknownModel();
  return buildModelRecord(info);
}
