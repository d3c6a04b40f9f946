import type { EventEnvelope } from '../../../contract/events.ts';

/**
 * Sent first, so that the client knows that it is connected: when to come back after a cut, in ms, and where the stream
 * begins, so that one that is cut before its first event misses nothing.
 */
export function buildOpening(cursor: string): string {
  return `retry: 1000\nid: ${cursor}\n\n`;
}
/** Of every answer that is a stream. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

export const KEEPALIVE_FRAME = ':\n\n';

/** One message of the stream. Without a cursor the client keeps the last one that it got. */
export function buildFrame(envelope: EventEnvelope, cursor: string | undefined): string {
  const id = cursor === undefined ? '' : `id: ${cursor}\n`;
  return `event: ${envelope.type}\n${id}data: ${JSON.stringify(envelope)}\n\n`;
}
