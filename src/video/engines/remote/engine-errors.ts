import { RenderError } from '../engine.ts';
import type { Reply } from './transport.ts';

const MODERATION = /moderat|content[_ -]?policy|safety|nsfw|sensitive|prohibited|inappropriate|flagged/i;

/** Whether an engine's own words say that it did not like what the prompt or the pictures show. */
export function isModeration(...words: unknown[]): boolean {
  return words.some((word) => typeof word === 'string' && MODERATION.test(word));
}

/** Why a job failed, in words of ours: an engine's own may hold names, ids and addresses. */
export function buildFailure(...words: unknown[]): RenderError {
  return isModeration(...words)
    ? new RenderError('moderation', 'The engine refuses what the prompt or the references show.')
    : new RenderError('engine_error', 'The engine could not render the video.');
}

/** Why an engine did not take a request; `words` are where it says so. */
export function buildRefusal({ status, body }: Reply, ...words: unknown[]): RenderError {
  if (isModeration(...words)) return buildFailure(...words);
  const cause = new Error(`The engine answered with status ${status}.`, { cause: body });
  if (status === 401 || status === 403)
    return new RenderError('engine_error', 'The engine refuses its key.', { cause });
  if (status === 402) return new RenderError('engine_error', 'The account at the engine is used up.', { cause });
  if (status === 400 || status === 413 || status === 415 || status === 422) {
    return new RenderError('invalid_input', 'The engine cannot work with this request.', { cause });
  }
  return new RenderError('engine_error', 'The engine answered with what is not understood.', { cause });
}

/** A member of whatever JSON, by its path; undefined where there is none. */
export function findMember(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, key) => {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, key)) return undefined;
    return (inner as Record<string, unknown>)[key];
  }, value);
}

export function findText(value: unknown, path: string): string | undefined {
  const found = findMember(value, path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}
