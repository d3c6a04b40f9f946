import { ERROR_STATUS, publicCode } from '../errors.ts';
import type { ErrorBody, ErrorCode } from '../errors.ts';

const MESSAGES: Record<ErrorCode, string> = {
  validation_error: 'name: is required; tools: must be of type array',
  unauthorized: 'The API key is missing, invalid or revoked.',
  forbidden: 'The API key lacks the scope agents:write.',
  not_found: 'No such agent.',
  method_not_allowed: 'The path has no such method.',
  conflict: 'The agent is at version 3.',
  invalid_state: 'The session is running.',
  no_active_turn: 'The session has no live turn to steer or interrupt.',
  response_expired: 'The turn that asked for this response has ended or was already answered.',
  payload_too_large: 'The request body must be at most 1048576 bytes.',
  range_not_satisfiable: 'header.range: must lie within the file',
  rate_limited: 'The allowance of messages is exhausted.',
  server_error: 'The request failed unexpectedly.',
  upstream_failed: 'The credential could not be used.',
  service_delete_failed: 'A sandbox or a volume could not be deleted; try again.',
  unavailable: 'The database cannot be reached.',
  storage_full: 'The storage is full: nothing can be written until space is freed.',
};

const MORE: Partial<Record<ErrorCode, Partial<ErrorBody>>> = {
  response_expired: { retryable: false },
  rate_limited: {
    rateLimit: { resource: 'messages', limit: 100, remaining: 0, periodSeconds: 60, resetAfterSeconds: 17 },
  },
};

/** A body that the code comes with. */
export function buildErrorExample(code: ErrorCode): ErrorBody {
  return { error: publicCode(code), message: MESSAGES[code], ...MORE[code] };
}

/** The codes of one status, with an example body for each. Codes that look the same to callers are merged. */
export function listErrorExamples(codes: Iterable<ErrorCode>, status: number): Record<string, { value: ErrorBody }> {
  const ofStatus = [...codes].filter((code) => ERROR_STATUS[code] === status);
  return Object.fromEntries(ofStatus.map((code) => [publicCode(code), { value: buildErrorExample(code) }]));
}
