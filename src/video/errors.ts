import type { FastifyReply, FastifyRequest } from 'fastify';
import { VIDEO_ERROR_STATUS, publicVideoCode } from './contract/errors.ts';
import type { VideoError, VideoErrorCode } from './contract/errors.ts';
import type { ApiError } from '../platform/errors.ts';
import { rateLimitHeaders } from '../platform/http/allowance.ts';
import { describeError } from '../platform/http/errors.ts';
import type { Logger } from '../platform/log.ts';
import { omitUndefined } from '../platform/records.ts';
import { CapstanError } from '../platform/errors.ts';

type More = { required?: number; balance?: number; retryAfterSeconds?: number };

/** An error of this service that callers may see, in addition to those of every service. */
export class VideoApiError extends CapstanError<VideoErrorCode> {
  readonly more: More;

  constructor(code: VideoErrorCode, message: string, more: More = {}) {
    super(code, message, { retryable: more.retryAfterSeconds !== undefined });
    this.more = more;
  }
}

export const videoErrors = {
  unsupportedModel: () => new VideoApiError('unsupported_model', 'modelName: there is no such model.'),
  unsupported: (field: string, message: string) => new VideoApiError('unsupported_parameter', `${field}: ${message}`),
  invalidReference: (field: string, message: string) => new VideoApiError('invalid_reference', `${field}: ${message}`),
  insufficientCredits: (required: number, balance: number) =>
    new VideoApiError('insufficient_credits', `The request costs ${required} credits; the balance is ${balance}.`, {
      required,
      balance,
    }),
  freeTierPaused: () =>
    new VideoApiError('free_tier_paused', 'Generation is paused for the time being.', { retryAfterSeconds: 60 }),
} as const;

function toVideoError(error: ApiError): VideoApiError {
  // Every error code of the HTTP server is also a code of this service.
  const { retryAfterSeconds } = error.details;
  const more = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new VideoApiError(error.code as VideoErrorCode, error.message, more);
}

const UNEXPECTED = new VideoApiError('server_error', 'The request failed unexpectedly.');

/** Parses `body.a: …; body.b: …` into field names. */
function listDetails({ code, message }: VideoApiError): VideoError['details'] {
  if (code !== 'validation_error') return undefined;
  const entries = message.split('; ').map((entry) => /^([\w.[\]*-]+): (.+)$/.exec(entry));
  return entries.flatMap((match) =>
    match?.[1] === undefined || match[2] === undefined ? [] : [{ path: match[1], message: match[2] }],
  );
}

/** Converts an error to a response in this service's shape. */
export function sendVideoError(log: Logger, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = error instanceof VideoApiError ? undefined : describeError(error, request.routeOptions.bodyLimit ?? 0);
  const fault = error instanceof VideoApiError ? error : known === undefined ? UNEXPECTED : toVideoError(known);
  const status = VIDEO_ERROR_STATUS[fault.code];
  if (fault === UNEXPECTED) {
    log.error({ err: error, requestId: request.id, route: request.routeOptions.url }, 'request failed');
  } else if (status >= 500) {
    log.warn({ code: fault.code, requestId: request.id, route: request.routeOptions.url }, 'request failed');
  }
  const { retryAfterSeconds, required, balance } = fault.more;
  const details = listDetails(fault);
  const body: VideoError = {
    error: publicVideoCode(fault.code),
    message: fault.message,
    request_id: request.id,
    ...(details === undefined || details.length === 0 ? {} : { details }),
    ...omitUndefined({ required, balance }),
  };
  const rateLimit = known?.details.rateLimit;
  void reply
    .code(status)
    .header('x-request-id', request.id)
    .headers(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) })
    .headers(rateLimit === undefined ? {} : rateLimitHeaders(rateLimit))
    .send(body);
}
