import { ModelError } from '../inference/model.ts';
import type { ModelErrorCode } from '../inference/model.ts';
import type { ApiError } from '../platform/errors.ts';
import { omitUndefined } from '../platform/records.ts';
import { BudgetReachedError, CapstanError } from '../platform/errors.ts';

/**
 * Stable codes of the gateway and the HTTP status of each. A permanent error is never a 5xx, because clients retry
 * those.
 */
export const GATEWAY_ERROR_STATUS = {
  invalid_request: 400,
  unsupported_field: 400,
  context_length_exceeded: 400,
  content_policy_violation: 400,
  upstream_authentication_failed: 400,
  invalid_api_key: 401,
  forbidden: 403,
  model_not_found: 404,
  not_found: 404,
  method_not_allowed: 405,
  request_too_large: 413,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  server_error: 500,
  upstream_error: 502,
  upstream_unavailable: 503,
  unavailable: 503,
  upstream_timeout: 504,
} as const;
export type GatewayErrorCode = keyof typeof GATEWAY_ERROR_STATUS;

const RETRYABLE: ReadonlySet<GatewayErrorCode> = new Set([
  'rate_limit_exceeded',
  'upstream_error',
  'upstream_unavailable',
  'unavailable',
  'upstream_timeout',
]);

type Details = {
  param?: string;
  retryAfterMs?: number;
  /** further fields for clients, in formats whose errors have `details` */
  details?: Record<string, unknown>;
  /** the provider's own words for the error */
  upstream?: UpstreamError | undefined;
  cause?: unknown;
};

/** Status, code, type and request id of a provider's error. */
export type UpstreamError = { status?: number; code?: string; type?: string; request_id?: string };

/** An error that callers of the gateway may see. */
export class GatewayError extends CapstanError<GatewayErrorCode> {
  /** the field at fault, as a path */
  readonly param: string | null;
  readonly retryAfterMs: number | undefined;
  readonly details: Record<string, unknown> | undefined;
  readonly upstream: UpstreamError | undefined;

  constructor(
    code: GatewayErrorCode,
    message: string,
    { param, retryAfterMs, details, upstream, cause }: Details = {},
  ) {
    super(code, message, { cause, retryable: RETRYABLE.has(code) });
    this.param = param ?? null;
    this.retryAfterMs = retryAfterMs;
    this.details = details;
    this.upstream = upstream;
  }

  get status(): number {
    return GATEWAY_ERROR_STATUS[this.code];
  }
}

export function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${param}: ${message}`, { param });
}

export function unsupported(param: string, message: string): GatewayError {
  return new GatewayError('unsupported_field', `${param}: ${message}`, { param });
}

export function unknownModel(name: string): GatewayError {
  const message = `The model ${name.slice(0, 200)} does not exist or is not served here. GET /v1/models lists the models.`;
  return new GatewayError('model_not_found', message, { param: 'model' });
}

const MODEL_ERROR_CODES: Record<ModelErrorCode, GatewayErrorCode> = {
  unknown_model: 'model_not_found',
  invalid_request: 'invalid_request',
  authentication: 'upstream_authentication_failed',
  context_overflow: 'context_length_exceeded',
  rate_limited: 'rate_limit_exceeded',
  unavailable: 'upstream_unavailable',
  timeout: 'upstream_timeout',
  upstream: 'upstream_error',
};

/** `retry-after` where the upstream sent none. */
const RETRY_AFTER_MS: Partial<Record<GatewayErrorCode, number>> = {
  rate_limit_exceeded: 5000,
  upstream_unavailable: 5000,
};

function describeUpstream({ status, upstream }: ModelError): UpstreamError | undefined {
  const { code, type, requestId } = upstream;
  if (status === undefined && code === undefined && type === undefined && requestId === undefined) return undefined;
  return omitUndefined({ status, code, type, request_id: requestId });
}

export function fromModelError(error: ModelError): GatewayError {
  const code = MODEL_ERROR_CODES[error.code];
  const retryAfterMs = error.retryable ? (error.retryAfterMs ?? RETRY_AFTER_MS[code]) : undefined;
  return new GatewayError(code, error.message, {
    cause: error,
    upstream: describeUpstream(error),
    ...(code === 'model_not_found' ? { param: 'model' } : {}),
    ...omitUndefined({ retryAfterMs }),
  });
}

const API_CODES: Partial<Record<ApiError['code'], GatewayErrorCode>> = {
  validation_error: 'invalid_request',
  unauthorized: 'invalid_api_key',
  forbidden: 'forbidden',
  not_found: 'not_found',
  method_not_allowed: 'method_not_allowed',
  payload_too_large: 'request_too_large',
  rate_limited: 'rate_limit_exceeded',
  unavailable: 'unavailable',
  storage_full: 'unavailable',
};

/** Translates an error of the HTTP server. */
export function fromApiError(error: ApiError): GatewayError {
  const { retryAfterSeconds } = error.details;
  return new GatewayError(API_CODES[error.code] ?? 'server_error', error.message, {
    cause: error,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterMs: retryAfterSeconds * 1000 }),
  });
}

/** A budget refuses the call. Retrying fails until the budget is raised or its period ends. */
export function fromReachedBudget(error: BudgetReachedError): GatewayError {
  return new GatewayError('insufficient_quota', error.message, {
    cause: error,
    details: { error_code: 'insufficient_quota', budget: error.budget },
  });
}

/** The error sent if the response has already started; internal details are hidden. */
export function findError(error: unknown): GatewayError | undefined {
  if (error instanceof GatewayError) return error;
  if (error instanceof BudgetReachedError) return fromReachedBudget(error);
  return error instanceof ModelError ? fromModelError(error) : undefined;
}
