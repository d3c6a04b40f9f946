import { readSse } from '../../../../clients/typescript/sse.ts';
import { fetchApi, isStatus } from './http.ts';
import type { Query } from './http.ts';

/** The server sends a keepalive every 15 s; a longer silence means a dead connection. */
const SILENCE_MS = 45_000;
const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 5000;

export type StreamOptions = {
  path: string;
  /** called before each connection, so that it resumes after the last event */
  query: () => Query;
  onMessage: (data: string) => void;
  onState: (state: 'connected' | 'reconnecting' | 'absent') => void;
  signal: AbortSignal;
};

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** One connection, until it ends. Returns the last event id that it received. */
async function connect(options: StreamOptions, lastEventId: string, onOpen: () => void): Promise<string> {
  const silence = new AbortController();
  const signal = AbortSignal.any([options.signal, silence.signal]);
  let watchdog = setTimeout(() => silence.abort(), SILENCE_MS);
  const listen = () => {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  let last = lastEventId;
  try {
    const headers = { accept: 'text/event-stream', ...(last === '' ? {} : { 'last-event-id': last }) };
    const response = await fetchApi('GET', options.path, { query: options.query(), headers, signal });
    onOpen();
    if (response.body === null) return last;
    for await (const message of readSse(response.body, listen)) {
      last = message.lastEventId;
      if (message.data !== '') options.onMessage(message.data);
    }
    return last;
  } finally {
    clearTimeout(watchdog);
    silence.abort();
  }
}

/**
 * Follows an event stream across broken connections until the signal aborts. `absent`: the server has no such stream.
 */
export async function followStream(options: StreamOptions): Promise<void> {
  let wait = FIRST_PAUSE_MS;
  let lastEventId = '';
  while (!options.signal.aborted) {
    try {
      lastEventId = await connect(options, lastEventId, () => {
        wait = FIRST_PAUSE_MS;
        options.onState('connected');
      });
    } catch (error) {
      if (options.signal.aborted) return;
      if (isStatus(error, 404) || isStatus(error, 403)) return options.onState('absent');
    }
    if (options.signal.aborted) return;
    options.onState('reconnecting');
    await pause(wait * (0.75 + Math.random() / 2), options.signal);
    wait = Math.min(wait * 2, LAST_PAUSE_MS);
  }
}
