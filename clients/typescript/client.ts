import type { EventEnvelope } from './generated/shapes.ts';
import type { Operations } from './generated/operations.ts';
import { TABLE } from './generated/table.ts';
import { followSession } from './follow.ts';
import type { FollowItem, FollowOptions } from './follow.ts';
import type { CallOptions, ClientOptions, OperationEntry } from './options.ts';
import { send } from './send.ts';
import type { Outgoing, SentBody } from './send.ts';

/** Every operation as a function: parameters of the path, the body, the query, then options. Errors are `CapstanError`s. */
export type Client = Operations & {
  /** Events of a session until the signal aborts or the caller leaves the loop, across broken connections. */
  followEvents(sessionId: string, options?: FollowOptions): AsyncGenerator<EventEnvelope>;
  /** The same, and which of them are history. */
  follow(sessionId: string, options?: FollowOptions): AsyncGenerator<FollowItem>;
};

const TYPES = { json: 'application/json', bytes: 'application/octet-stream' };

function buildPath(entry: OperationEntry, args: readonly unknown[], query: unknown): string {
  const path = entry.parameters.reduce(
    (text, name, index) => text.replace(`{${name}}`, encodeURIComponent(String(args[index]))),
    entry.path,
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

function buildOutgoing(entry: OperationEntry, args: readonly unknown[]): Outgoing {
  let next = entry.parameters.length;
  const body = entry.body === undefined ? undefined : args[next++];
  const query = entry.query ? args[next++] : undefined;
  const { signal, idempotencyKey, headers } = (args[next] ?? {}) as CallOptions;
  const type = body === undefined || entry.body === undefined || entry.body === 'form' ? undefined : TYPES[entry.body];
  return {
    method: entry.method,
    path: buildPath(entry, args, query),
    headers: {
      accept: entry.answer === 'bytes' ? TYPES.bytes : TYPES.json,
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(entry.idempotencyKey ? { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() } : {}),
      ...headers,
    },
    ...(body === undefined ? {} : { body: entry.body === 'json' ? JSON.stringify(body) : (body as SentBody) }),
    safe: entry.safe,
    once: body instanceof ReadableStream,
    signal,
  };
}

async function readAnswer(entry: OperationEntry, response: Response): Promise<unknown> {
  return entry.answer === 'bytes' ? response : await response.json();
}

/** The service as functions. Opens nothing until one is called. */
export function buildClient(options: ClientOptions): Client {
  const functions = Object.entries(TABLE).map(([name, entry]) => [
    name,
    (...args: unknown[]) => send(options, buildOutgoing(entry, args), (response) => readAnswer(entry, response)),
  ]);
  const operations = Object.fromEntries(functions) as Operations;
  return {
    ...operations,
    follow: (sessionId, given = {}) => followSession(operations, options, sessionId, given),
    async *followEvents(sessionId, given = {}) {
      for await (const item of followSession(operations, options, sessionId, given)) {
        if (item.kind === 'event') yield item.event;
      }
    },
  };
}
