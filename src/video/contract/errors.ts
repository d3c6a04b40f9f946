import { z } from 'zod';

/** Stable codes of the video service and the HTTP status of each. */
export const VIDEO_ERROR_STATUS = {
  validation_error: 400,
  unsupported_model: 400,
  unsupported_parameter: 400,
  invalid_reference: 400,
  unauthorized: 401,
  insufficient_credits: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  range_not_satisfiable: 416,
  rate_limited: 429,
  server_error: 500,
  unavailable: 503,
  storage_full: 503,
  free_tier_paused: 503,
} as const;
export type VideoErrorCode = keyof typeof VIDEO_ERROR_STATUS;

/** The values of `error` in the body. */
export function publicVideoCode(code: VideoErrorCode): Exclude<VideoErrorCode, 'unavailable'> {
  return code === 'unavailable' ? 'server_error' : code;
}

/** The video service's error body. `required` and `balance`, in credits, come with `insufficient_credits`. */
export const VideoError = z
  .object({
    error: z.enum(Object.keys(VIDEO_ERROR_STATUS).map((code) => publicVideoCode(code as VideoErrorCode))),
    message: z.string(),
    request_id: z.string(),
    details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    required: z.int().optional(),
    balance: z.int().optional(),
  })
  .meta({ id: 'VideoError' });
export type VideoError = z.infer<typeof VideoError>;
