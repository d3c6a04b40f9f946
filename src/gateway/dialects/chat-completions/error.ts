import type { GatewayError } from '../../gateway-error.ts';
import { omitUndefined } from '../../../platform/records.ts';
import type { JsonObject } from '../dialect.ts';

function decideType({ status, code }: GatewayError): string {
  if (code === 'insufficient_quota') return code;
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** The error body of chat completions and responses. */
export function buildChatError(fault: GatewayError): JsonObject {
  const { message, code, param, upstream } = fault;
  return { error: { message, code, type: decideType(fault), param, ...omitUndefined({ upstream }) } };
}
