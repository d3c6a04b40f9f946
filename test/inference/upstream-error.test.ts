import { describe, expect, it } from 'vitest';
import { buildUpstreamError, parseRetryAfter, redactMessage } from '../../src/inference/upstream-error.ts';

const target = { apiKey: 'plain-secret', headers: { 'x-token': 'header-secret' } };

describe('the message of a refused request', () => {
  it.each([
    ['the key itself', 'bad plain-secret here', 'bad [redacted] here'],
    ['a configured header', 'bad header-secret here', 'bad [redacted] here'],
    ['another key', 'bad sk-proj-abcdefghijklmnop here', 'bad [redacted] here'],
    ['a masked key', 'Incorrect key: sk-ab***********************xyz.', 'Incorrect key: [redacted].'],
    ['a bearer token', 'sent Bearer abc.def', 'sent [redacted]'],
    ['an address', 'see https://internal.example/v1?key=1 now', 'see [address] now'],
    ['nothing secret', "Invalid schema for function 'weather'", "Invalid schema for function 'weather'"],
  ])('does not show %s', (_, message, expected) => {
    expect(redactMessage(message, target)).toBe(expected);
  });

  it('is bounded', () => {
    expect(redactMessage('long text '.repeat(1000), target).length).toBeLessThanOrEqual(601);
  });
});

describe('the fault of an error', () => {
  it.each([
    [{ error: { message: "This model's maximum context length is 8192 tokens" } }, 400],
    [{ error: { message: 'the request exceeds the available context size' } }, 400],
    [{ error: { message: 'Input is too long', code: 'context_length_exceeded' } }, 400],
    [{ message: 'Prompt is too long' }, 413],
    [[{ error: { message: 'The input token count (9) exceeds the maximum' } }], 400],
    [{ error: 'input is too large to process, exceeds context window' }, 500],
  ])('is context_overflow for %j', (body, status) => {
    expect(buildUpstreamError(body, target, { status }).code).toBe('context_overflow');
  });

  it('is not context_overflow when tokens per minute ran out', () => {
    const body = { error: { message: 'Request too large: too many tokens per minute', code: 'rate_limit_exceeded' } };
    expect(buildUpstreamError(body, target, { status: 429 }).code).toBe('rate_limited');
  });

  it.each([401, 402, 429, 500, 503])('under status %i never quotes what the upstream said', (status) => {
    const { message } = buildUpstreamError({ error: { message: 'it exploded, with plain-secret' } }, target, {
      status,
    });
    expect(message).not.toMatch(/exploded|plain-secret/);
  });
});

describe("an error of Google's", () => {
  const google = (code: number, status: string, more: object = {}) => ({
    error: { code, status, message: 'x', ...more },
  });
  const reason = { details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }] };
  it.each([
    ['a bad key', google(400, 'INVALID_ARGUMENT', reason), 400, 'authentication'],
    ['no permission', google(403, 'PERMISSION_DENIED'), 403, 'authentication'],
    ['an unknown model', google(404, 'NOT_FOUND', { message: 'models/x is not found' }), 404, 'unknown_model'],
    ['a spent quota', google(429, 'RESOURCE_EXHAUSTED'), 429, 'rate_limited'],
    ['an overload within a stream', google(503, 'UNAVAILABLE'), undefined, 'unavailable'],
    ['a deadline', google(504, 'DEADLINE_EXCEEDED'), 504, 'timeout'],
    ['a wrong field', google(400, 'INVALID_ARGUMENT'), 400, 'invalid_request'],
    ['a failure', google(500, 'INTERNAL'), 500, 'upstream'],
  ])('tells %s', (_, body, status, code) => {
    expect(buildUpstreamError(body, target, status === undefined ? {} : { status }).code).toBe(code);
  });

  it('says how long to wait, and its name', () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }];
    const error = buildUpstreamError(google(429, 'RESOURCE_EXHAUSTED', { details }), target, { status: 429 });
    expect([error.retryAfterMs, error.upstream.type]).toEqual([34_500, 'RESOURCE_EXHAUSTED']);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  it.each([
    ['5', 5000],
    ['0.5', 500],
    ['Thu, 01 Jan 2026 00:00:09 GMT', 9000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['-3', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%j is %j ms', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });
});
