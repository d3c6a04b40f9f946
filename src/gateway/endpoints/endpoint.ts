import type { UpstreamFormat } from '../../inference/config.ts';
import type { JsonObject } from '../dialects/dialect.ts';

/** The fields of a JSON body, or the fields and files of a form. */
export type EndpointInput = { fields: JsonObject; files: EndpointFile[] };
export type EndpointFile = { field: string; name: string; type: string; bytes: Uint8Array };

/** Input and output tokens, if the response reports them. */
export type EndpointUsage = { input: number; output: number };

/** A whole response of the built-in provider. */
export type ScriptAnswer = { type: string; body: string | Uint8Array; usage: EndpointUsage };

/** A path of model calls that are not for text. */
export type Endpoint = {
  /** in metrics */
  name: string;
  /** below `/v1`, and below the provider's base URL */
  path: string;
  body: 'json' | 'form';
  /** formats of the providers that have the path */
  formats: readonly UpstreamFormat[];
  /** used when the request names no model */
  defaultModel?: string;
  /** Throws a `GatewayError` for a request that no provider could serve. */
  check(input: EndpointInput): void;
  /** Answers for `script/…` models, without a network. Throws a `GatewayError`. */
  answerScript(input: EndpointInput): ScriptAnswer;
};

export const OPENAI_FORMATS: readonly UpstreamFormat[] = ['chat-completions', 'responses'];

/** About four characters per token, as `script/demo` counts. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

export function buildJsonAnswer(body: unknown, usage: EndpointUsage): ScriptAnswer {
  return { type: 'application/json; charset=utf-8', body: JSON.stringify(body), usage };
}
