// Tests: test/gateway/hooks-elsewhere.test.ts
import type { ForwardedReply } from '../../inference/forward.ts';
import type { JsonObject } from '../dialects/dialect.ts';
import { GatewayError, invalid } from '../gateway-error.ts';
import type { ResponseGuard } from './hooks.ts';

const WHOLE = 'hooks of this gateway inspect responses';
/** Formats of transcripts that are no JSON. */
const PLAIN = new Set(['text', 'srt', 'vtt']);

/** Throws `invalid_request` for a request whose response, not being whole JSON, no hook could inspect. Audio is exempt. */
export function requireInspectable(guard: ResponseGuard | undefined, endpoint: string, fields: JsonObject): void {
  if (guard === undefined || endpoint === 'speech') return;
  const { stream, response_format: format } = fields;
  // Fields of forms are text.
  if (stream === true || stream === 'true') throw invalid('stream', `must not be set: ${WHOLE}`);
  const isTranscript = endpoint === 'transcription' || endpoint === 'translation';
  if (isTranscript && typeof format === 'string' && PLAIN.has(format)) {
    throw invalid('response_format', `must be json or verbose_json: ${WHOLE}`);
  }
}

/** Closes the response and throws if it is a text although JSON was asked for. */
export function requireInspected(guard: ResponseGuard | undefined, answer: ForwardedReply): void {
  if (guard === undefined || !answer.contentType.startsWith('text/')) return;
  answer.close();
  throw new GatewayError('upstream_error', 'The provider sent a text that the hooks of this gateway cannot inspect.');
}
