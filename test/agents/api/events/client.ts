import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import type { EventEnvelope } from '../../../../src/agents/contract/events.ts';

export type Frame = { event: string | undefined; id: string | undefined; data: EventEnvelope };

export type Client = {
  headers: IncomingMessage['headers'];
  frames: Frame[];
  comments: string[];
  retry: number | undefined;
  /** resolves when the server or `cut` has closed it */
  ended: Promise<void>;
  /** resolves after this many frames, or when the stream has ended */
  until(frames: number): Promise<Frame[]>;
  pause(): void;
  /** whether a paused client has filled its buffers and no longer reads from its connection */
  isFull(): boolean;
  resume(): void;
  cut(): void;
};

export type Source = { url: string; key: string; sessionId: string; query?: string; lastEventId?: string | undefined };

/** Reads a stream as an application does. Resolves with the response headers; throws unless the status is 200. */
export async function openClient(source: Source, onFrame: (frame: Frame) => void = () => {}): Promise<Client> {
  const path = `/v1/sessions/${source.sessionId}/events/stream${source.query ?? ''}`;
  const outgoing = request(source.url + path, {
    agent: false,
    headers: {
      'x-api-key': source.key,
      ...(source.lastEventId === undefined ? {} : { 'last-event-id': source.lastEventId }),
    },
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve).on('error', reject).end();
  });
  if (response.statusCode !== 200) {
    response.resume();
    throw new Error(`stream answered ${response.statusCode}`);
  }
  const waiting = new Set<() => void>();
  const wake = () => waiting.forEach((check) => check());
  let isOver = false;
  const parser = createParser({
    onEvent: ({ event, id, data }) => {
      const frame = { event, id, data: JSON.parse(data) as EventEnvelope };
      client.frames.push(frame);
      onFrame(frame);
    },
    onComment: (comment) => client.comments.push(comment),
    onRetry: (ms) => (client.retry = ms),
  });
  const ended = new Promise<void>((resolve) => {
    response
      .on('error', () => {})
      .on('close', () => {
        isOver = true;
        wake();
        resolve();
      });
  });
  outgoing.on('error', () => {});
  const client: Client = {
    headers: response.headers,
    frames: [],
    comments: [],
    retry: undefined,
    ended,
    until: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (client.frames.length < count && !isOver) return;
          waiting.delete(check);
          resolve(client.frames);
        };
        waiting.add(check);
        check();
      }),
    pause: () => response.pause(),
    isFull: () => response.readableLength >= response.readableHighWaterMark,
    resume: () => response.resume(),
    cut: () => outgoing.destroy(),
  };
  response.setEncoding('utf8').on('data', (text: string) => {
    parser.feed(text);
    wake();
  });
  return client;
}
