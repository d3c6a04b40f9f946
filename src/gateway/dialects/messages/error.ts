import type { GatewayErrorCode, GatewayError } from '../../gateway-error.ts';
import { omitUndefined } from '../../../platform/records.ts';
import type { JsonObject } from '../dialect.ts';

const TYPES: Partial<Record<GatewayErrorCode, string>> = {
  invalid_api_key: 'authentication_error',
  forbidden: 'permission_error',
  model_not_found: 'not_found_error',
  not_found: 'not_found_error',
  request_too_large: 'request_too_large',
  rate_limit_exceeded: 'rate_limit_error',
  insufficient_quota: 'rate_limit_error',
  upstream_unavailable: 'overloaded_error',
  unavailable: 'overloaded_error',
  upstream_timeout: 'timeout_error',
};

function decideType({ code, status }: GatewayError): string {
  return TYPES[code] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/** Clients of this format compact the conversation if the message begins with these words. */
const TOO_LONG = 'prompt is too long: the conversation exceeds the context window of the model';

export function buildMessagesError(fault: GatewayError, requestId: string): JsonObject {
  const message = fault.code === 'context_length_exceeded' ? TOO_LONG : fault.message;
  const { upstream } = fault;
  const details = upstream === undefined ? fault.details : { ...fault.details, upstream };
  return {
    type: 'error',
    error: { type: decideType(fault), message, ...omitUndefined({ details }) },
    request_id: requestId,
  };
}
