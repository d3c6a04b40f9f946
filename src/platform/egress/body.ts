import { EgressError } from './error.ts';

/**
 * The same answer with a body that fails past `maxBytes`, counted after decompression, or when `describe` names a
 * fault.
 */
export function boundBody(
  response: Response,
  url: URL,
  bounds: {
    maxBytes: number;
    describe: (error: unknown) => EgressError;
    onBroken: ((error: EgressError) => void) | undefined;
  },
): Response {
  const { maxBytes, describe, onBroken } = bounds;
  const declared = Number(response.headers.get('content-length') ?? 0);
  const tooLarge = () => new EgressError('too_large', `The answer of ${url.host} is larger than ${maxBytes} bytes.`);
  if (declared > maxBytes) {
    void response.body?.cancel().catch(() => undefined);
    throw tooLarge();
  }
  if (response.body === null) return response;
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  let read = 0;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        // The reader may have disconnected while no data arrived.
        if (cancelled) return;
        if (done) return controller.close();
        read += value.byteLength;
        if (read > maxBytes) throw tooLarge();
        controller.enqueue(value);
      } catch (error) {
        if (cancelled) return;
        const fault = error instanceof EgressError ? error : describe(error);
        controller.error(fault);
        onBroken?.(fault);
        void reader.cancel().catch(() => undefined);
      }
    },
    cancel(reason) {
      cancelled = true;
      return reader.cancel(reason);
    },
  });
  const { status, statusText, headers } = response;
  const bounded = new Response(body, { status, statusText, headers });
  Object.defineProperty(bounded, 'url', { value: url.href });
  return bounded;
}
