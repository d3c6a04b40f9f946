import { setTimeout as sleep } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { EventEnvelope } from '../contract/events.ts';
import { eventRoutes } from '../contract/routes/sessions.ts';
import type { Client } from './client.ts';
import { ServerFault } from './fault.ts';

export type FollowItem =
  /** `isPast`: it was in the log before the first connection was open */
  | { kind: 'event'; event: EventEnvelope; isPast: boolean }
  /** the whole history has been given, once */
  | { kind: 'caught_up' };

/** The server sends something every 15 s; silence beyond this is a dead connection. */
const SILENCE_MS = 45_000;
const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 5000;
const REMEMBERED = 2000;
const PAGE = 100;

/** Deltas, previews and updates: on the stream only, with the sequence of the last durable event. */
export function isLiveOnly(event: EventEnvelope): boolean {
  return event.payload['delta'] === true || event.status === 'streaming' || event.type === 'session.tool_updated';
}

export async function* listHistory(client: Client, sessionId: string, after: number): AsyncGenerator<EventEnvelope> {
  for (let last = after; ;) {
    const query = { after: last, limit: PAGE };
    const page = await client.call(eventRoutes.listEvents, { params: { sessionId }, query });
    yield* page.data;
    last = page.data.at(-1)?.sequence ?? last;
    if (!page.pagination.hasMore) return;
  }
}

function pathOf(sessionId: string): string {
  return eventRoutes.streamEvents.path.replace('{sessionId}', encodeURIComponent(sessionId));
}

/**
 * Every durable event of a session past `after` (absent: from now on), each once and in order, and what is live besides. On every connection
 * the stream is opened first and the history read second, so that nothing falls between them; frames wait in the
 * connection meanwhile. A connection that breaks is opened again; a server that never answered is an error.
 */
export async function* followSession(
  client: Client,
  sessionId: string,
  options: { after: number | undefined; signal: AbortSignal },
): AsyncGenerator<FollowItem> {
  let last = options.after;
  let lastEventId: string | undefined;
  let pause = FIRST_PAUSE_MS;
  let connectedBefore = false;
  const seen = new Set<string>();

  function take(event: EventEnvelope): boolean {
    if (isLiveOnly(event)) return !seen.has(event.id);
    if (last !== undefined && event.sequence <= last) return false;
    last = event.sequence;
    seen.add(event.id);
    if (seen.size > REMEMBERED) for (const id of [...seen].slice(0, REMEMBERED / 2)) seen.delete(id);
    return true;
  }

  while (!options.signal.aborted) {
    const silence = new AbortController();
    const signal = AbortSignal.any([options.signal, silence.signal]);
    const watchdog = setTimeout(() => silence.abort(), SILENCE_MS);
    try {
      const body = await client.open(pathOf(sessionId), { lastEventId, signal });
      if (last !== undefined) {
        for await (const event of listHistory(client, sessionId, last)) {
          if (take(event)) yield { kind: 'event', event, isPast: !connectedBefore };
        }
      }
      if (!connectedBefore) yield { kind: 'caught_up' };
      connectedBefore = true;
      pause = FIRST_PAUSE_MS;
      const heard = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          watchdog.refresh();
          controller.enqueue(chunk);
        },
      });
      const messages = body
        .pipeThrough(heard)
        .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
        .pipeThrough(new EventSourceParserStream());
      for await (const message of messages) {
        lastEventId = message.id ?? lastEventId;
        const event = JSON.parse(message.data) as EventEnvelope;
        if (take(event)) yield { kind: 'event', event, isPast: false };
      }
    } catch (error) {
      if (options.signal.aborted) return;
      const isFinal = error instanceof ServerFault && error.status < 500 && error.status !== 429;
      if (!connectedBefore || isFinal) throw error;
    } finally {
      clearTimeout(watchdog);
      silence.abort();
    }
    await sleep(pause, undefined, { signal: options.signal }).catch(() => {});
    pause = Math.min(pause * 2, LAST_PAUSE_MS);
  }
}
