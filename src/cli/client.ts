import type { z } from 'zod';
import type { ErrorBody } from '../contract/errors.ts';
import type { Route } from '../contract/route.ts';
import { CliFault, ServerFault } from './fault.ts';

export type Connection = { url: string; key: string };

type Sent<T> = T extends z.ZodType ? z.input<T> : undefined;
type Received<R extends Route> = {
  [S in keyof R['responses']]: R['responses'][S] extends z.ZodType ? z.output<R['responses'][S]> : never;
}[keyof R['responses']];

export type CallInput<R extends Route> = {
  params?: Sent<R['params']>;
  query?: Record<string, string | number | boolean | undefined>;
  body?: Sent<R['body']>;
};

export type Client = {
  /** One operation of the contract. Throws a `ServerFault` for any answer but success. */
  call<R extends Route>(route: R, input?: CallInput<R>): Promise<Received<R>>;
  /** The body of an event stream; `lastEventId` is what the stream sent last. */
  open(
    path: string,
    options: { lastEventId: string | undefined; signal: AbortSignal },
  ): Promise<ReadableStream<Uint8Array>>;
};

function buildPath(path: string, params: Record<string, string>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => encodeURIComponent(params[name] ?? ''));
}

/** Follows the causes down to the one that says something: "fetch failed" does not. */
function describeCause(error: unknown): string {
  let cause = error;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  if (cause instanceof AggregateError) return describeCause(cause.errors[0]);
  return cause instanceof Error ? cause.message || String('code' in cause ? cause.code : cause.name) : String(cause);
}

async function readFault(response: Response): Promise<ServerFault> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as Partial<ErrorBody>;
    const advice = response.status === 401 ? ' Set CAPSTAN_API_KEY to a key of this server.' : '';
    if (typeof body.message === 'string') return new ServerFault(response.status, `${body.message}${advice}`);
  } catch {
    // no body of ours
  }
  return new ServerFault(response.status, `The server answered ${response.status} ${response.statusText}`.trim());
}

/** The API as functions, typed by the contract's route table. */
export function buildClient({ url, key }: Connection): Client {
  const base = url.replace(/\/+$/, '');

  async function send(
    path: string,
    init: Omit<RequestInit, 'headers'> & { headers: Record<string, string> },
  ): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(`${base}${path}`, { ...init, headers: { ...init.headers, 'x-api-key': key } });
    } catch (error) {
      if (init.signal?.aborted === true) throw error;
      throw new CliFault(`No server at ${base} (${describeCause(error)}). Start one, or set CAPSTAN_URL.`);
    }
    if (!response.ok) throw await readFault(response);
    return response;
  }

  return {
    async call<R extends Route>(route: R, input: CallInput<R> = {}) {
      const query = new URLSearchParams();
      for (const [name, value] of Object.entries(input.query ?? {})) {
        if (value !== undefined) query.set(name, String(value));
      }
      const search = query.size === 0 ? '' : `?${query.toString()}`;
      const response = await send(`${buildPath(route.path, input.params ?? {})}${search}`, {
        method: route.method,
        headers: input.body === undefined ? {} : { 'content-type': 'application/json' },
        ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
      });
      return (await response.json()) as Received<R>;
    },
    async open(path, { lastEventId, signal }) {
      const response = await send(path, {
        signal,
        headers: {
          accept: 'text/event-stream',
          ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
        },
      });
      if (response.body === null) throw new CliFault('The server sent no stream.');
      return response.body;
    },
  };
}
