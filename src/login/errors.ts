import type { FastifyReply, FastifyRequest } from 'fastify';
import { LOGIN_ERROR_STATUS, publicLoginCode } from './contract/errors.ts';
import type { LoginErrorBody, LoginErrorCode } from './contract/errors.ts';
import { EgressError } from '../platform/egress/error.ts';
import { ApiError } from '../platform/errors.ts';
import { rateLimitHeaders } from '../platform/http/allowance.ts';
import { describeError } from '../platform/http/errors.ts';
import type { Logger } from '../platform/log.ts';
import { omitUndefined } from '../platform/records.ts';
import { LoginError } from './login-error.ts';

function isLoginCode(code: string): code is LoginErrorCode {
  return Object.hasOwn(LOGIN_ERROR_STATUS, code);
}

/** Maps any thrown error to one for the caller; internal errors keep their text to themselves. */
export function toLoginError(error: unknown, bodyLimit: number): LoginError {
  if (error instanceof LoginError) return error;
  if (error instanceof EgressError) return describeEgress(error);
  const known = describeError(error, bodyLimit);
  if (known === undefined || !isLoginCode(known.code)) {
    return new LoginError('server_error', 'The request failed unexpectedly.', { cause: error });
  }
  const { retryAfterSeconds } = known.details;
  return new LoginError(known.code, known.message, {
    ...omitUndefined({ retryAfterSeconds }),
    cause: error,
  });
}

function describeEgress(error: EgressError): LoginError {
  if (error.code === 'refused' || error.code === 'bad_url') {
    return new LoginError('unsafe_domain', 'domain: leads to an address that is not on the public internet.', {
      details: { reason: error.code === 'refused' ? 'private_address' : 'bad_url' },
      cause: error,
    });
  }
  return new LoginError('site_unreachable', 'The site could not be reached.', { cause: error });
}

/** Default for `retry-after`, in seconds. */
const WAIT_SECONDS: Partial<Record<LoginErrorCode, number>> = { capacity: 5, unavailable: 1, rate_limited: 60 };

/** The only place that turns an error of the website login into a response. */
export function sendLoginError(log: Logger, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const fault = toLoginError(error, request.routeOptions.bodyLimit ?? 0);
  if (fault.code === 'server_error' || fault.code === 'unavailable' || fault.code === 'capacity') {
    const { cause } = fault;
    log.error({ err: cause ?? fault, requestId: request.id, route: request.routeOptions.url }, 'request failed');
  }
  const body: LoginErrorBody = {
    error: publicLoginCode(fault.code),
    message: fault.message,
    requestId: request.id,
    ...omitUndefined({ details: fault.details }),
  };
  const wait = fault.retryAfterSeconds ?? WAIT_SECONDS[fault.code];
  const rateLimit = error instanceof ApiError ? error.details.rateLimit : undefined;
  void reply
    .code(fault.status)
    .header('x-request-id', request.id)
    .headers(fault.loginId === undefined ? {} : { 'x-login-id': fault.loginId })
    .headers(wait === undefined ? {} : { 'retry-after': String(wait) })
    .headers(rateLimit === undefined ? {} : rateLimitHeaders(rateLimit))
    .send(body);
}
