import type { UpstreamFormat } from '../../inference/config.ts';
import type { ModelFeature } from '../../inference/upstream/features.ts';

/**
 * The treatment of a field on the way to an upstream of a format. `carried`: sent in that format's own field.
 * `emulated`: has its effect by other means. `gateway`: concerns the gateway alone. `refused`: the request is rejected
 * and the error names the field. `ignored`: a hint without effect, named in the header `x-capstan-ignored-fields`.
 */
export type Fate = 'carried' | 'emulated' | 'gateway' | 'refused' | 'ignored';

export type FieldRule = {
  /** `built-in` are `script/…` models */
  to: Record<UpstreamFormat | 'built-in', Fate>;
  /** why it is refused, and an alternative */
  help?: string;
  /** whether the value requests nothing, so that it is neither refused nor reported; absent: `null` alone */
  isNeutral?: (value: unknown) => boolean;
  /** an upstream of the client's format gets it only if the whole request is forwarded unchanged */
  forwarded?: true;
  /** chat completions upstreams get it unchanged */
  verbatim?: true;
  /** the field has no effect for models that lack this */
  needs?: ModelFeature;
  /** for the docs */
  note?: string;
};

export type FieldTable = Readonly<Record<string, FieldRule>>;

/** One for each format of providers, in the order of the docs; `builtIn` absent: as for messages. */
type Columns = [chat: Fate, responses: Fate, messages: Fate, generateContent: Fate, converse: Fate, builtIn?: Fate];

export function fates([
  chat,
  responses,
  messages,
  generateContent,
  converse,
  builtIn = messages,
]: Columns): FieldRule['to'] {
  return {
    'chat-completions': chat,
    responses,
    messages,
    'generate-content': generateContent,
    converse,
    'built-in': builtIn,
  };
}

export function all(fate: Fate, more: Omit<FieldRule, 'to'> = {}): FieldRule {
  return { to: fates([fate, fate, fate, fate, fate]), ...more };
}

export function rule(columns: Columns, more: Omit<FieldRule, 'to'> = {}): FieldRule {
  return { to: fates(columns), ...more };
}

/** Whether the value asks for no reasoning. */
export const isNone = (value: unknown): boolean => value === 'none';
export const isZero = (value: unknown): boolean => value === 0;
export const isFalse = (value: unknown): boolean => value === false;
export const isTrue = (value: unknown): boolean => value === true;
