import { ApiError, ConnectionError, describeCause, readApiError } from '../../../../clients/typescript/errors.ts';
import { buildStore } from './store.ts';

/** The address of the server, including the path prefix of a proxy; ends with a slash. */
export const BASE = new URL('..', document.baseURI).href;

const TIMEOUT_MS = 60_000;

export type Query = Record<string, string | number | boolean | undefined>;
export type RequestOptions = {
  query?: Query | undefined;
  body?: unknown;
  signal?: AbortSignal | undefined;
  idempotencyKey?: string;
  headers?: Record<string, string>;
};

/** Whether the last request failed because nobody is signed in. The sign-in form covers the page, so drafts stay. */
export const signedOut = buildStore(false);

export function buildUrl(path: string, query: Query = {}): string {
  const url = new URL(path, BASE);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  }
  return url.href;
}

/** Sends one request with the session cookie. Throws `ApiError` and `ConnectionError`. */
export async function fetchApi(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const { query, body, signal, idempotencyKey, headers } = options;
  let response: Response;
  try {
    response = await fetch(buildUrl(path, query), {
      method,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        'x-capstan-console': '1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ConnectionError(`The server does not answer (${describeCause(error)}).`, { cause: error });
  }
  if (response.ok) return response;
  if (response.status === 401 && !path.startsWith('v1/sign-ins')) signedOut.set(true);
  throw await readApiError(response);
}

/** The same for a JSON response, with a timeout. */
export async function request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  const signal = options.signal === undefined ? limit : AbortSignal.any([options.signal, limit]);
  const response = await fetchApi(method, path, { ...options, signal });
  return (await response.json()) as T;
}

export function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return request<T>('GET', path, { query, signal });
}

export function isStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}

export function isTransient(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ApiError && error.retryable);
}
