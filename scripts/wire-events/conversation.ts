import { EventSourceParserStream } from 'eventsource-parser/stream';

export type WireEvent = {
  id: string;
  type: string;
  payload: { type: string; delta?: boolean; stop_reason?: { type: string } };
};

/** A session over HTTP and its stream. */
export type Conversation = {
  /** Throws when the events are refused. */
  send: (...events: object[]) => Promise<void>;
  /** The next event of this type on the stream, after those already returned. */
  next: (type: string) => Promise<WireEvent>;
  /** The next end of a turn. A turn that waits for an answer has not ended. */
  ended: () => Promise<void>;
};

export type Recording = {
  /** the log, as `GET /v1/sessions/{id}/events` lists it */
  listed: WireEvent[];
  /** frames of the stream, without deltas, whose boundaries depend on the machine's speed */
  streamed: WireEvent[];
};

/** Returns the body of the response. Throws for any status but 2xx. */
export async function request<T>(url: string, key: string, path: string, body?: object): Promise<T> {
  const response = await fetch(url + path, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}

/** Opens the stream of a session, plays a conversation on it and records its events. */
export async function record(
  server: { url: string; key: string },
  sessionId: string,
  play: (conversation: Conversation) => Promise<void>,
): Promise<Recording> {
  const { url, key } = server;
  const path = `/v1/sessions/${sessionId}/events`;
  const stop = new AbortController();
  const response = await fetch(`${url}${path}/stream?after=0`, {
    headers: { 'x-api-key': key },
    signal: stop.signal,
  });
  if (!response.ok || response.body === null) throw new Error(`${path}/stream: ${response.status}`);
  const frames = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  const streamed: WireEvent[] = [];
  const next = async (type: string): Promise<WireEvent> => {
    for (;;) {
      const { done, value } = await frames.read();
      if (done) throw new Error(`The stream of ${sessionId} ended before ${type}.`);
      const event = JSON.parse(value.data) as WireEvent;
      if (event.payload.delta === true) continue;
      streamed.push(event);
      if (event.type === type) return event;
    }
  };
  const ended = async (): Promise<void> => {
    for (;;) {
      const { payload } = await next('session.status_idle');
      if (payload.stop_reason?.type !== 'requires_action') return;
    }
  };
  const send = async (...events: object[]): Promise<void> => {
    await request(url, key, path, { events });
  };
  try {
    await play({ send, next, ended });
  } finally {
    stop.abort();
  }
  const { data } = await request<{ data: WireEvent[] }>(url, key, `${path}?limit=100`);
  return { listed: data, streamed };
}
