import type { FastifyReply, FastifyRequest } from 'fastify';
import { DbUnavailableError, StorageFullError } from '../db/db.ts';
import { LimitsUnavailableError } from '../limits/limits.ts';
import { ApiError, errors } from '../errors.ts';
import type { Logger } from '../log.ts';
import { rateLimitHeaders } from './allowance.ts';

/** What the HTTP framework reports, in the service's words; its own texts may quote the request. */
function describeFrameworkError(code: string, bodyLimit: number): ApiError {
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return errors.payloadTooLarge(bodyLimit);
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return errors.validation('header.content-type: must be application/json');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return errors.validation('header.content-length: must equal the size of the body');
    case 'FST_ERR_BAD_URL':
      return errors.validation('path: must be valid percent-encoding');
    default:
      return errors.validation('request: is malformed');
  }
}

/** Converts any error to a response; undefined for internal errors, which callers must not see. */
export function describeError(error: unknown, bodyLimit: number): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof StorageFullError) return errors.storageFull(error);
  if (error instanceof DbUnavailableError) return errors.unavailable('The database cannot be reached.', error);
  if (error instanceof LimitsUnavailableError) return errors.unavailable('The allowance cannot be verified.', error);
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined;
  const status = Number(error.statusCode);
  if (status < 400 || status >= 500) return undefined;
  return describeFrameworkError('code' in error ? String(error.code) : '', bodyLimit);
}

/** The one place where an error becomes an answer. */
export function sendError(log: Logger, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = describeError(error, request.routeOptions.bodyLimit ?? 0);
  if (known === undefined) {
    log.error({ err: error, requestId: request.id, route: request.routeOptions.url }, 'request failed');
  } else if (known.status >= 500) {
    log.warn({ err: known, requestId: request.id, route: request.routeOptions.url }, 'request failed');
  }
  const answer = known ?? new ApiError('server_error', 'The request failed unexpectedly.');
  const { retryAfterSeconds, rateLimit } = answer.details;
  void reply
    .code(answer.status)
    .header('x-request-id', request.id)
    .headers(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) })
    .headers(rateLimit === undefined ? {} : rateLimitHeaders(rateLimit))
    .send(answer.body);
}
