import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../platform/errors.ts';
import { rateLimitHeaders } from '../platform/http/allowance.ts';
import { describeError } from '../platform/http/errors.ts';
import type { Logger } from '../platform/log.ts';
import type { JsonObject } from './dialects/dialect.ts';
import { addSdkRateLimitHeaders } from './rate-limit-headers.ts';
import { GatewayError, fromApiError, findError } from './gateway-error.ts';

export type RenderError = (fault: GatewayError, requestId: string) => JsonObject;

const UNEXPECTED = 'The request failed unexpectedly.';

/** The error that a caller sees for anything thrown. Internal errors do not reveal their message. */
export function decideFault(error: unknown, bodyLimit: number): GatewayError {
  const known = findError(error);
  if (known !== undefined) return known;
  // A body within the size limit can be nested more deeply than recursive functions can handle.
  if (error instanceof RangeError && error.message.includes('call stack')) {
    return new GatewayError('invalid_request', 'body: is nested too deeply', { cause: error });
  }
  const described = describeError(error, bodyLimit);
  return described === undefined ? new GatewayError('server_error', UNEXPECTED) : fromApiError(described);
}

/** Logs server errors, without any text that may quote the request. */
export function logGatewayError(log: Logger, error: unknown, fault: GatewayError, request: FastifyRequest): void {
  const fields = { requestId: request.id, route: request.routeOptions.url, code: fault.code };
  if (fault.code === 'server_error') log.error({ ...fields, err: error }, 'request failed');
  else if (fault.status >= 500) log.warn(fields, 'request failed');
}

/** Sends an error in the format of the route. */
export function sendGatewayError(
  { log, render }: { log: Logger; render: RenderError },
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const fault = decideFault(error, request.routeOptions.bodyLimit ?? 0);
  logGatewayError(log, error, fault, request);
  const { retryAfterMs, upstream } = fault;
  const rateLimit = error instanceof ApiError ? error.details.rateLimit : undefined;
  if (rateLimit !== undefined) {
    void reply.headers(rateLimitHeaders(rateLimit));
    addSdkRateLimitHeaders(reply);
  }
  void reply
    .code(fault.status)
    .header('x-request-id', request.id)
    .headers(retryAfterMs === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) })
    // Official clients repeat a 429 unless they are told not to.
    .headers(fault.code === 'insufficient_quota' ? { 'x-should-retry': 'false' } : {})
    .headers(upstream?.request_id === undefined ? {} : { 'x-upstream-request-id': upstream.request_id })
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(render(fault, request.id)));
}
