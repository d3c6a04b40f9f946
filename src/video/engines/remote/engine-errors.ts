import { RenderError } from '../engine.ts';
import type { Reply } from './transport.ts';

const MODERATION = /moderat|content[_ -]?policy|safety|nsfw|sensitive|prohibited|inappropriate|flagged/i;

/** Whether an engine's error text reports content moderation. */
export function isModeration(...words: unknown[]): boolean {
  return words.some((word) => typeof word === 'string' && MODERATION.test(word));
}

/** The error of a failed job. The engine's own text is not shown, because it may contain names, ids and URLs. */
export function buildFailure(...words: unknown[]): RenderError {
  return isModeration(...words)
    ? new RenderError('moderation', 'The engine rejected the content of the prompt or the references.')
    : new RenderError('engine_error', 'The engine could not render the video.');
}

/** The error of a rejected request; `words` are the texts in which the engine explains it. */
export function buildRefusal({ status, body }: Reply, ...words: unknown[]): RenderError {
  if (isModeration(...words)) return buildFailure(...words);
  const cause = new Error(`The engine answered with status ${status}.`, { cause: body });
  if (status === 401 || status === 403)
    return new RenderError('engine_error', 'The engine rejected its API key.', { cause });
  if (status === 402)
    return new RenderError('engine_error', 'The account at the engine has no credit left.', { cause });
  if (status === 400 || status === 413 || status === 415 || status === 422) {
    return new RenderError('invalid_input', 'The engine cannot work with this request.', { cause });
  }
  return new RenderError('engine_error', 'The engine sent an unexpected response.', { cause });
}

/** A member of any JSON value by its path; undefined if there is none. */
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
