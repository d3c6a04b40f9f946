import { ConnectionError, describeCause, readApiError } from '../../../clients/typescript/errors.ts';
import { findConnection } from '../connection.ts';
import type { Environment } from '../connection.ts';

export type RestRequest = {
  method: string;
  /** with its query, from the root of the server */
  path: string;
  /** sent as JSON, bytes as they are */
  body?: unknown;
  /** asks for bytes instead of JSON */
  isDownload?: true;
  /** may take longer than two minutes */
  isLong?: true;
};

const TIMEOUT_MS = 120_000;

/** One request to the server of the environment. Throws an `ApiError` or a `ConnectionError`. */
export async function callServer(
  env: Environment,
  { method, path, body, isDownload, isLong }: RestRequest,
): Promise<Response> {
  const { baseUrl, apiKey } = findConnection(env);
  const isBytes = body instanceof Uint8Array;
  let response: Response;
  try {
    response = await fetch(baseUrl.replace(/(?<!\/)\/+$/, '') + path, {
      method,
      headers: {
        'x-api-key': apiKey,
        ...(isDownload === true ? { accept: 'application/octet-stream' } : {}),
        ...(body === undefined ? {} : { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isBytes ? Buffer.from(body) : JSON.stringify(body) }),
      ...(isLong === true ? {} : { signal: AbortSignal.timeout(TIMEOUT_MS) }),
    });
  } catch (error) {
    throw new ConnectionError(`No answer of ${baseUrl} (${describeCause(error)}).`, { cause: error });
  }
  if (!response.ok) throw await readApiError(response);
  return response;
}
