import type { EventEnvelope } from '../../../contract/events.ts';

/** Says when to come back after a cut, in ms; sent first, so that the client knows that it is connected. */
export const OPENING_FRAME = 'retry: 1000\n\n';
export const KEEPALIVE_FRAME = ':\n\n';

/** One message of the stream. Without a cursor the client keeps the last one that it got. */
export function buildFrame(envelope: EventEnvelope, cursor: string | undefined): string {
  const id = cursor === undefined ? '' : `id: ${cursor}\n`;
  return `event: ${envelope.type}\n${id}data: ${JSON.stringify(envelope)}\n\n`;
}
