import type { GatewayError } from '../../gateway-error.ts';

/** Codes that clients of this format handle; they retry after any other. */
const FAILURES: Partial<Record<GatewayError['code'], string>> = {
  context_length_exceeded: 'context_length_exceeded',
  rate_limit_exceeded: 'rate_limit_exceeded',
  invalid_request: 'invalid_prompt',
  content_policy_violation: 'invalid_prompt',
};

/** The `error` of a response that failed midway. */
export function describeFailure(fault: GatewayError): { code: string; message: string } {
  return { code: FAILURES[fault.code] ?? 'server_error', message: fault.message };
}
