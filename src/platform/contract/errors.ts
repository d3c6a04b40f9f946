import { z } from 'zod';

/** Stable codes of the agent service and the HTTP status of each. */
export const ERROR_STATUS = {
  validation_error: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  invalid_state: 409,
  no_active_turn: 409,
  response_expired: 410,
  payload_too_large: 413,
  range_not_satisfiable: 416,
  rate_limited: 429,
  server_error: 500,
  upstream_failed: 502,
  service_delete_failed: 502,
  unavailable: 503,
  storage_full: 503,
} as const;
export type ErrorCode = keyof typeof ERROR_STATUS;

export type PublicCode = Exclude<ErrorCode, 'upstream_failed' | 'unavailable'>;

/** The values of `error` in the body; internal failures and failed dependencies share one. */
export function publicCode(code: ErrorCode): PublicCode {
  return code === 'upstream_failed' || code === 'unavailable' ? 'server_error' : code;
}

/** The agent service's error body. `retryable: false` means that the same request must not be sent again. */
export const ErrorBody = z
  .object({
    error: z.enum(Object.keys(ERROR_STATUS).map((code) => publicCode(code as ErrorCode))),
    message: z.string(),
    retryable: z.literal(false).optional(),
    rateLimit: z
      .object({
        resource: z.enum(['conversations', 'messages', 'requests']),
        limit: z.int(),
        remaining: z.int(),
        periodSeconds: z.int(),
        resetAfterSeconds: z.int(),
      })
      .optional(),
  })
  .meta({ id: 'ErrorBody' });
export type ErrorBody = z.infer<typeof ErrorBody>;
