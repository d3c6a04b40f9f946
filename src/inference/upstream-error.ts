import { omitUndefined } from '../platform/records.ts';
import { ModelError } from './model.ts';
import type { ModelErrorCode } from './model.ts';
import { asList, asText, asObject } from './upstream/wire.ts';
import type { JsonObject } from './upstream/wire.ts';
import type { UpstreamTarget } from './upstream/dialect.ts';

type ErrorDetails = {
  message: string;
  code: string;
  type: string;
  status: number | undefined;
  retryAfterMs?: number | undefined;
};

/** Reads the error shapes that providers and their proxies use. */
export function readErrorDetails(body: unknown): ErrorDetails {
  const outer = asObject(Array.isArray(body) ? body[0] : body);
  if (outer === undefined) return { message: asText(body), code: '', type: '', status: undefined };
  const error = asObject(outer.error) ?? outer;
  const detail = asObject(asList(outer.detail)[0]);
  const google = readGoogleDetails(error);
  const message =
    asText(error.message) ||
    asText(outer.error) ||
    asText(outer.message) ||
    asText(outer.Message) ||
    asText(outer.detail) ||
    asText(detail?.msg);
  const status = [error.status, error.code, outer.code].find((value) => typeof value === 'number' && value >= 400);
  return {
    message,
    code: asText(error.code) || google.reason,
    type: asText(error.type) || asText(error.status) || readAwsName(error['__type']),
    retryAfterMs: google.retryAfterMs,
    status: typeof status === 'number' && status < 600 ? status : undefined,
  };
}

/** AWS's names of errors come with a namespace before or an address behind them. */
export function readAwsName(value: unknown): string {
  const name = asText(value).split(':', 1)[0] ?? '';
  return name.slice(name.indexOf('#') + 1);
}

/** Google's errors have their reason and the time to wait in a list of typed details. */
function readGoogleDetails(error: JsonObject): { reason: string; retryAfterMs: number | undefined } {
  const details = asList(error.details).map((each) => asObject(each) ?? {});
  const delay = details.map((each) => asText(each.retryDelay)).find((text) => /^\d[\d.]*s$/.test(text));
  return {
    reason: details.map((each) => asText(each.reason)).find((text) => text !== '') ?? '',
    retryAfterMs: parseRetryAfter(delay?.slice(0, -1), 0),
  };
}

const CONTEXT_OVERFLOW =
  /context.?(length|window|size)|maximum (context|input|prompt)|(prompt|input|request|messages?) (is|are) too (long|large)|too many (input )?tokens|exceeds? the (model'?s )?(maximum|limit|context)|input token count|max_model_len/i;

const UNKNOWN_MODEL = /model identifier is invalid/i;

/** Error names that are more precise than the status; the first match wins. */
const NAMED: [RegExp, ModelErrorCode][] = [
  [/context_length_exceeded|context_window_exceeded|model_context_window/, 'context_overflow'],
  [/authentication|permission|invalid_api_key|billing|PERMISSION_DENIED|UNAUTHENTICATED|API_KEY_/, 'authentication'],
  [
    /AccessDenied|UnrecognizedClient|ExpiredToken|InvalidSignature|IncompleteSignature|MissingAuthentication/i,
    'authentication',
  ],
  [/model_not_found|not_found_error|resourceNotFound/i, 'unknown_model'],
  [
    /rate_limit|insufficient_quota|too_many_requests|tokens_exceeded|RESOURCE_EXHAUSTED|throttling|serviceQuota/i,
    'rate_limited',
  ],
  [/overloaded|unavailable|capacity|modelNotReady/i, 'unavailable'],
  [/timeout|DEADLINE_EXCEEDED/i, 'timeout'],
  [
    /invalid_request|invalid_prompt|bad_request|invalid_image|request_too_large|INVALID_ARGUMENT|FAILED_PRECONDITION|validationException/i,
    'invalid_request',
  ],
];

const BY_STATUS = new Map<number, ModelErrorCode>([
  [401, 'authentication'],
  [402, 'authentication'],
  [403, 'authentication'],
  [408, 'timeout'],
  // AWS: the model failed
  [424, 'upstream'],
  [429, 'rate_limited'],
  [503, 'unavailable'],
  [504, 'timeout'],
  [522, 'timeout'],
  [524, 'timeout'],
  [529, 'unavailable'],
]);

function decideByStatus(status: number | undefined, message: string): ModelErrorCode {
  if (status === undefined) return 'upstream';
  if (status === 404 && /model/i.test(message)) return 'unknown_model';
  return BY_STATUS.get(status) ?? (status >= 400 && status < 500 ? 'invalid_request' : 'upstream');
}

export function decideErrorCode(status: number | undefined, complaint: ErrorDetails): ModelErrorCode {
  const actual = status ?? complaint.status;
  // A precise status wins over the error's name.
  const precise = actual !== undefined && actual !== 400 && actual !== 404 && actual < 500;
  const names = `${complaint.type} ${complaint.code}`;
  const named = precise ? undefined : NAMED.find(([pattern]) => pattern.test(names))?.[1];
  const fault = named ?? decideByStatus(actual, complaint.message);
  if (fault === 'invalid_request' && UNKNOWN_MODEL.test(complaint.message)) return 'unknown_model';
  const mayOverflow = fault === 'invalid_request' || fault === 'upstream';
  return mayOverflow && CONTEXT_OVERFLOW.test(complaint.message) ? 'context_overflow' : fault;
}

const KEY_SHAPES =
  /\b(?:(?:sk|pk|rk|key|gsk|xai|hf|ghp)[-_]|AIza|AKIA)[A-Za-z0-9_*-]{8,}|\bBearer\s+\S+|\b[A-Za-z0-9_-]{40,}\b|(?<![A-Za-z0-9])[A-Za-z0-9]*\*{3,}[A-Za-z0-9]*/g;

type Secrets = Pick<UpstreamTarget, 'apiKey' | 'headers' | 'aws'>;

/** Removes the target's secrets, anything that looks like a key, and URLs. At most 600 characters. */
export function redactMessage(message: string, target: Secrets): string {
  const { apiKey, headers = {}, aws } = target;
  const secrets = [apiKey, aws?.accessKeyId, aws?.secretAccessKey, aws?.sessionToken, ...Object.values(headers)];
  let text = message.slice(0, 4000);
  for (const secret of secrets) {
    if (secret !== undefined && secret.length >= 6) text = text.replaceAll(secret, '[redacted]');
  }
  text = text.replaceAll(KEY_SHAPES, '[redacted]').replaceAll(/\bhttps?:\/\/\S+/gi, '[address]');
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}

const MESSAGES: Record<Exclude<ModelErrorCode, 'invalid_request'>, string> = {
  unknown_model: 'The provider does not know the model.',
  authentication: 'The provider rejected its API key.',
  context_overflow: "The conversation exceeds the model's context window.",
  rate_limited: 'The provider limits the rate of calls.',
  unavailable: 'The provider is overloaded or unavailable.',
  timeout: 'The provider did not answer in time.',
  upstream: 'The provider failed.',
};

/** Builds the error from an HTTP error's body, or from an error object inside a stream. */
export function buildUpstreamError(
  body: unknown,
  target: Secrets,
  http: { status?: number; retryAfterMs?: number; requestId?: string; type?: string } = {},
): ModelError {
  const found = readErrorDetails(body);
  const complaint = found.type === '' ? { ...found, type: http.type ?? '' } : found;
  const fault = decideErrorCode(http.status, complaint);
  const status = http.status ?? complaint.status;
  const message =
    fault === 'invalid_request'
      ? redactMessage(complaint.message, target) || `The provider rejected the request (${status ?? 'no status'}).`
      : MESSAGES[fault];
  return new ModelError(fault, message, {
    ...omitUndefined({ status, retryAfterMs: http.retryAfterMs ?? complaint.retryAfterMs }),
    upstream: omitUndefined({
      code: readIdentifier(complaint.code, target),
      type: readIdentifier(complaint.type, target),
      requestId: readIdentifier(http.requestId ?? readRequestId(body), target),
    }),
  });
}

/** Names and ids only: anything else may quote the request or contain a secret. */
const IDENTIFIER = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/;

function readIdentifier(value: string | undefined, target: Secrets): string | undefined {
  if (value === undefined || !IDENTIFIER.test(value)) return undefined;
  return redactMessage(value, target) === value ? value : undefined;
}

/** Errors of the messages format have the request's id in the body. */
function readRequestId(body: unknown): string | undefined {
  const id = asText(asObject(body)?.request_id);
  return id === '' ? undefined : id;
}

/** Where providers put the id of a request. */
const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id', 'x-goog-request-id'];

/** The upstream's id of a request, from the headers of its response. */
export function findRequestId(headers: Record<string, string | string[] | undefined>): string | undefined {
  for (const name of REQUEST_ID_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') return readIdentifier(value, {});
  }
  return undefined;
}

/** A longer `retry-after` of an upstream is cut to this. */
const MAX_RETRY_AFTER_MS = 86_400_000;

/** Parses seconds or an HTTP date to milliseconds from `now`, at most one day; undefined for anything else. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined || value.trim() === '') return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.min(seconds * 1000, MAX_RETRY_AFTER_MS) : undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), MAX_RETRY_AFTER_MS);
}
