import type { FastifyReply, FastifyRequest } from 'fastify';
import { describeError } from '../platform/http/errors.ts';
import type { Logger } from '../platform/log.ts';
import type { Wire } from './dialects/dialect.ts';
import { GatewayFault, buildApiFault, findFault } from './faults.ts';

export type RenderError = (fault: GatewayFault, requestId: string) => Wire;

const UNEXPECTED = 'The request failed unexpectedly.';

/** What anything thrown is to a caller; our own faults stay without their text. */
export function decideFault(error: unknown, bodyLimit: number): GatewayFault {
  const known = findFault(error);
  if (known !== undefined) return known;
  // What a body of the largest size can be nested to is deeper than anything can be read or written.
  if (error instanceof RangeError && error.message.includes('call stack')) {
    return new GatewayFault('invalid_request', 'body: is nested too deeply', { cause: error });
  }
  const described = describeError(error, bodyLimit);
  return described === undefined ? new GatewayFault('server_error', UNEXPECTED) : buildApiFault(described);
}

/** Writes to the log what is worth it: never a text that may quote the request. */
export function logFault(log: Logger, error: unknown, fault: GatewayFault, request: FastifyRequest): void {
  const fields = { requestId: request.id, route: request.routeOptions.url, code: fault.code };
  if (fault.code === 'server_error') log.error({ ...fields, err: error }, 'request failed');
  else if (fault.status >= 500) log.warn(fields, 'request failed');
}

/** Where an error becomes an answer in the format of the route. */
export function sendFault(
  log: Logger,
  render: RenderError,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const fault = decideFault(error, request.routeOptions.bodyLimit ?? 0);
  logFault(log, error, fault, request);
  const { retryAfterMs } = fault;
  void reply
    .code(fault.status)
    .header('x-request-id', request.id)
    .headers(retryAfterMs === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) })
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(render(fault, request.id)));
}
