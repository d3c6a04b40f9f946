import type { GatewayFault } from '../../faults.ts';

/** Codes that clients of this format act on; any other is a fault that may pass. */
const FAILURES: Partial<Record<GatewayFault['code'], string>> = {
  context_length_exceeded: 'context_length_exceeded',
  rate_limit_exceeded: 'rate_limit_exceeded',
  invalid_request: 'invalid_prompt',
};

/** The error inside a response that failed midway. */
export function describeFailure(fault: GatewayFault): { code: string; message: string } {
  return { code: FAILURES[fault.code] ?? 'server_error', message: fault.message };
}
