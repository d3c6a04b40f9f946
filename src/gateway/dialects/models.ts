import type { ModelRequest } from '../../inference/model.ts';
import { invalid } from '../gateway-error.ts';
import type { JsonObject } from './dialect.ts';
import { isAbsent, readList, readName } from './fields.ts';

const MAX_MODELS = 20;

/** `model`, and `models`: names to try after it. If `model` is missing, the first of `models` takes its place. */
export function readModels(body: JsonObject): Pick<ModelRequest, 'model' | 'fallbackModels'> {
  if (isAbsent(body['models'])) return { model: readName(body['model'], 'model') };
  const listed = readList(body['models'], 'models').map((name, index) => readName(name, `models[${index}]`));
  if (listed.length > MAX_MODELS) throw invalid('models', `must have at most ${MAX_MODELS} names`);
  const names = isAbsent(body['model']) ? listed : [readName(body['model'], 'model'), ...listed];
  const [model, ...fallbackModels] = new Set(names);
  if (model === undefined) throw invalid('models', 'must not be empty');
  return fallbackModels.length === 0 ? { model } : { model, fallbackModels };
}
