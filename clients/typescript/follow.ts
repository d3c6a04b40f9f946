import { ApiError, CapstanError } from './errors.ts';
import type { EventEnvelope } from './generated/shapes.ts';
import type { Operations } from './generated/operations.ts';
import type { ClientOptions } from './options.ts';
import { pauseFor, sendOnce } from './send.ts';
import { readSse } from './sse.ts';

export type FollowOptions = {
  /** the last sequence that is known; 0: from the beginning. Absent: from now on */
  after?: number | undefined;
  signal?: AbortSignal | undefined;
};

export type FollowItem =
  /** `isPast`: it was in the log before the first connection was open */
  | { kind: 'event'; event: EventEnvelope; isPast: boolean }
  /** the whole history has been given, once */
  | { kind: 'caught_up' };

/** The server sends something every 15 s; silence beyond this is a dead connection. */
const SILENCE_MS = 45_000;
const CONNECT_MS = 30_000;
const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 5000;
const REMEMBERED = 2000;
const PAGE = 100;

const LIVE_TYPES: ReadonlySet<string> = new Set([
  'session.tool_updated',
  'agent.message_discarded',
  'agent.tool_output',
  'mcp.server_unavailable',
  'session.waiting',
]);

/**
 * Deltas, previews, output of calls that run, updates and notices: on the stream only, with the sequence of the last durable event. After
 * `agent.message_discarded` drop the deltas and previews of its `id`: no event with that id follows.
 */
export function isLiveOnly(event: EventEnvelope): boolean {
  const { payload } = event;
  return ('delta' in payload && payload.delta) || event.status === 'streaming' || LIVE_TYPES.has(event.type);
}

async function* listHistory(client: Operations, sessionId: string, after: number, signal: AbortSignal | undefined) {
  for (let last = after; ;) {
    const page = await client.listEvents(
      sessionId,
      { after: last, limit: PAGE },
      signal === undefined ? {} : { signal },
    );
    yield* page.data;
    last = page.data.at(-1)?.sequence ?? last;
    if (!page.pagination.hasMore) return;
  }
}

/**
 * Every durable event of a session past `after`, each once and in order, and what is live besides. On every connection
 * the stream is opened first and the history read second, so that nothing falls between them; frames wait in the
 * connection meanwhile. A connection that breaks is opened again, where it broke off; one that never was is an error.
 */
export async function* followSession(
  client: Operations,
  options: ClientOptions,
  sessionId: string,
  { after, signal }: FollowOptions,
): AsyncGenerator<FollowItem> {
  const path = `/v1/sessions/${encodeURIComponent(sessionId)}/events/stream`;
  let last = after;
  let lastEventId = '';
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

  while (!isAborted(signal)) {
    const silence = new AbortController();
    const leave = () => silence.abort();
    signal?.addEventListener('abort', leave);
    let watchdog: ReturnType<typeof setTimeout> | undefined;
    const listen = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(leave, SILENCE_MS);
    };
    try {
      const headers = { accept: 'text/event-stream', ...(lastEventId === '' ? {} : { 'last-event-id': lastEventId }) };
      const request = { method: 'GET', path, headers, safe: true, signal: silence.signal };
      const body = await openBody(options, request);
      listen();
      if (last !== undefined) {
        for await (const event of listHistory(client, sessionId, last, signal)) {
          listen();
          if (take(event)) yield { kind: 'event', event, isPast: !connectedBefore };
        }
      }
      if (!connectedBefore) yield { kind: 'caught_up' };
      connectedBefore = true;
      pause = FIRST_PAUSE_MS;
      for await (const message of readSse(body, listen)) {
        lastEventId = message.lastEventId;
        if (message.data === '') continue;
        const event = JSON.parse(message.data) as EventEnvelope;
        if (take(event)) yield { kind: 'event', event, isPast: false };
      }
    } catch (error) {
      if (isAborted(signal)) return;
      const isFinal = error instanceof ApiError && error.status < 500 && error.status !== 429;
      if (!connectedBefore || isFinal) throw error;
    } finally {
      clearTimeout(watchdog);
      signal?.removeEventListener('abort', leave);
      silence.abort();
    }
    await pauseFor(pause, signal);
    pause = Math.min(pause * 2, LAST_PAUSE_MS);
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** The body outlives the time that connecting may take. */
async function openBody(
  options: ClientOptions,
  request: Parameters<typeof sendOnce>[1],
): Promise<ReadableStream<Uint8Array>> {
  return await sendOnce(options, request, CONNECT_MS, async ({ body }) => {
    if (body === null) throw new CapstanError('The server sent no stream.');
    return body;
  });
}
