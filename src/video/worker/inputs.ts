import { join } from 'node:path';
import type { Objects } from '../../platform/objects/objects.ts';
import type { ReferenceKeys } from '../contract/generations.ts';
import { RenderError } from '../engines/engine.ts';
import type { RenderInputs } from '../engines/engine.ts';
import { saveObject } from '../references/inspect.ts';

/** Copies the references of a generation into a folder. Throws a `RenderError` if one was deleted meanwhile. */
export async function fetchInputs(
  objects: Objects,
  keys: ReferenceKeys,
  folder: string,
  signal: AbortSignal,
): Promise<RenderInputs> {
  let count = 0;
  const fetchOne = async (key: string) => {
    const path = join(folder, `input-${(count += 1)}`);
    if (!(await saveObject(objects, key, path, signal))) {
      throw new RenderError('invalid_input', 'A file that the request refers to is no longer kept.');
    }
    return path;
  };
  const fetchAll = async (list: readonly string[]) => {
    const paths: string[] = [];
    for (const key of list) paths.push(await fetchOne(key));
    return paths;
  };
  const inputs: RenderInputs = {
    ingredientImages: await fetchAll(keys.ingredientImages),
    characterImages: await fetchAll(keys.characterImages),
    referenceVideos: await fetchAll(keys.referenceVideos),
  };
  for (const role of ['startFrame', 'endFrame', 'sourceVideo', 'audio'] as const) {
    const key = keys[role];
    if (key !== undefined) inputs[role] = await fetchOne(key);
  }
  return inputs;
}
