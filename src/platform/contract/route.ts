import type { z } from 'zod';
import type { Scope } from './keys.ts';

type Body = z.ZodType<Record<string, unknown> | undefined>;

/**
 * One HTTP operation as data. The server registers it, the OpenAPI document and the clients are generated from it. `Code`:
 * the error codes of the service that it belongs to.
 */
export type Route<Code extends string = string> = {
  /** operationId, camelCase */
  id: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** with `{name}` parameters */
  path: string;
  tag: string;
  summary: string;
  /** what a key needs; absent: any valid key */
  scope?: Scope;
  /** enough as well, in place of `scope` */
  orScope?: Scope;
  /** needs no key */
  open?: true;
  params?: z.ZodType<Record<string, string>>;
  query?: z.ZodType<Record<string, unknown>>;
  body?: Body;
  /** the body may be left out */
  bodyOptional?: boolean;
  /** the body by media type, for an operation that reads it itself; `binary` stands for any bytes */
  media?: Readonly<Record<string, z.ZodType | 'binary'>>;
  /** bytes of the raw body; default 1 MiB */
  bodyLimit?: number;
  headers?: { name: string; description: string }[];
  /** by status; `stream` stands for text/event-stream, `binary` for application/octet-stream */
  responses: Record<number, z.ZodType | 'stream' | 'binary'>;
  /** successes come as application/octet-stream too, when asked for */
  binary?: true;
  errors: readonly Code[];
};

type Inferred<T> = T extends z.ZodType ? z.output<T> : undefined;

/** What a handler gets, after validation. */
export type RouteInput<R extends Route> = {
  params: Inferred<R['params']>;
  query: Inferred<R['query']>;
  body: Inferred<R['body']>;
};

/** The scopes of which a caller needs one; none for any caller. */
export function listScopes({ scope, orScope }: Pick<Route, 'scope' | 'orScope'>): Scope[] {
  return [scope, orScope].filter((each) => each !== undefined);
}

/** How a document shows the scopes of an operation. */
export function describeScopes(scopes: readonly Scope[]): { description?: string; 'x-capstan-scopes': Scope[] } {
  const shown = { 'x-capstan-scopes': [...scopes] };
  if (scopes.length === 0) return shown;
  return { description: `Needs a key with the scope ${scopes.map((each) => `\`${each}\``).join(' or ')}.`, ...shown };
}

/** Keeps the literal types of a route. */
export function defineRoute<const R extends Route>(route: R): R {
  return route;
}
