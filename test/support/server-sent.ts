import { createParser } from 'eventsource-parser';

export type ServerSent<T> = {
  frames: { event: string | undefined; id: string | undefined; data: T }[];
  /** resolves once the condition holds after some frame; rejects when the stream ends before */
  until(isReached: () => boolean): Promise<void>;
  close(): void;
};

/** Reads a stream of Server-Sent Events. Throws unless it is 200. */
export async function onServerSent<T>(url: string, headers: Record<string, string>): Promise<ServerSent<T>> {
  const ending = new AbortController();
  const response = await fetch(url, { headers, signal: ending.signal });
  if (response.status !== 200 || response.body === null) throw new Error(`stream answered ${response.status}`);
  const waiting = new Set<{ check: () => void; fail: () => void }>();
  const frames: ServerSent<T>['frames'] = [];
  const parser = createParser({
    onEvent: ({ event, id, data }) => frames.push({ event, id, data: JSON.parse(data) as T }),
  });
  const read = async (body: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      for (const { check } of waiting) check();
    }
  };
  void read(response.body)
    .catch(() => {})
    .finally(() => waiting.forEach(({ fail }) => fail()));
  return {
    frames,
    until: (isReached) =>
      new Promise((resolve, reject) => {
        const waiter = {
          check: () => {
            if (!isReached()) return;
            waiting.delete(waiter);
            resolve();
          },
          fail: () => reject(new Error('the stream has ended')),
        };
        waiting.add(waiter);
        waiter.check();
      }),
    close: () => ending.abort(),
  };
}
