// Tests: test/gateway/endpoints
import { decodeBody } from './body.ts';
import type { UpstreamFormat } from './config.ts';
import { ModelError } from './model.ts';
import { describeFailure } from './transport.ts';
import type { RawRequest, Transport } from './transport.ts';
import { findRequestId } from './upstream-error.ts';
import type { UpstreamTarget } from './upstream/dialect.ts';
import { buildAuthHeaders } from './upstream/history.ts';

/** A call that is not for text: embeddings, images, audio and the like. */
export type ForwardCall = {
  /** as the caller named it */
  model: string;
  fallbackModels?: string[] | undefined;
  /** follows the base URL */
  path: string;
  /** formats of the providers that have the path */
  formats: readonly UpstreamFormat[];
  /** The body for an upstream that calls the model `id`. */
  buildBody(id: string, extra: Record<string, unknown>): Promise<{ type: string; data: string | Uint8Array }>;
};

/** An upstream's response. The caller reads `chunks` to its end or closes it. */
export type ForwardedReply = {
  /** `<provider>/<id>` */
  model: string;
  contentType: string;
  requestId: string | undefined;
  /** Throws a `ModelError` when the response breaks off. */
  chunks: AsyncGenerator<Uint8Array>;
  close(): void;
};

/** A whole response of a provider. */
export type RawReply = { contentType: string; requestId: string | undefined; body: Buffer };

/** Maximum bytes of one response. */
const MAX_REPLY = 256 * 1024 * 1024;

/** `isServed`: whether the model exists, but at providers that lack the path. */
export function refuseForward(isServed: boolean): ModelError {
  return isServed
    ? new ModelError('invalid_request', 'model: the provider of this model does not serve this path')
    : new ModelError('unknown_model', 'No provider serves this model.');
}

/** Sends any request to a provider and reads its whole response. */
export async function requestRaw(
  transport: Transport,
  target: UpstreamTarget,
  request: RawRequest,
  signal: AbortSignal,
): Promise<RawReply> {
  const headers = { ...request.headers, ...buildAuthHeaders(target) };
  const answer = await transport.open(target, { ...request, headers }, signal);
  const header = answer.headers['content-type'];
  const contentType = typeof header === 'string' ? header : 'application/octet-stream';
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of decodeBody(answer)) {
      size += chunk.length;
      if (size > MAX_REPLY) throw new ModelError('upstream', 'The provider sent a reply that is too large.');
      chunks.push(chunk);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw describeFailure(error, true);
  } finally {
    answer.close();
  }
  return { contentType, requestId: findRequestId(answer.headers), body: Buffer.concat(chunks) };
}

/** One call of one upstream. Yields its response once. */
export async function* streamForward(
  transport: Transport,
  target: UpstreamTarget,
  call: ForwardCall,
  signal: AbortSignal,
): AsyncGenerator<ForwardedReply> {
  const { type, data } = await call.buildBody(target.model, target.extraBody ?? {});
  const headers = { 'content-type': type, accept: '*/*', ...buildAuthHeaders(target) };
  const answer = await transport.open(target, { method: 'POST', path: call.path, headers, body: data }, signal);
  const header = answer.headers['content-type'];

  async function* readChunks(): AsyncGenerator<Uint8Array> {
    let size = 0;
    try {
      for await (const chunk of decodeBody(answer)) {
        size += chunk.length;
        if (size > MAX_REPLY) throw new ModelError('upstream', 'The provider sent a reply that is too large.');
        yield chunk;
      }
    } catch (error) {
      signal.throwIfAborted();
      throw describeFailure(error, true);
    } finally {
      answer.close();
    }
  }

  yield {
    model: target.name,
    contentType: typeof header === 'string' ? header : 'application/octet-stream',
    requestId: findRequestId(answer.headers),
    chunks: readChunks(),
    close: () => answer.close(),
  };
}
