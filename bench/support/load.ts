import { Agent, request } from 'undici';

/** One kind of completion request. */
export type Path = { name: string; url: string; headers: Record<string, string>; body: (stream: boolean) => string };

const SEED_HEADERS = { 'content-type': 'application/json' };

/** Sends requests over kept-alive connections, at most `width` of them. */
export function openLoad(width: number) {
  const agent = new Agent({ connections: width, pipelining: 1 });

  /** Milliseconds to the first byte of the body, and to its end. Throws for anything but 200. */
  async function call(
    { url, headers, body }: Path,
    stream: boolean,
  ): Promise<{ first: number; whole: number; text: string }> {
    const started = performance.now();
    const answer = await request(url, {
      method: 'POST',
      headers: { ...SEED_HEADERS, ...headers },
      body: body(stream),
      dispatcher: agent,
    });
    let first = 0;
    let text = '';
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      if (first === 0) first = performance.now() - started;
      text += chunk.toString('latin1');
    }
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${text.slice(0, 300)}`);
    return { first, whole: performance.now() - started, text };
  }

  return {
    call,
    /** Sequential calls. */
    async sequence(path: Path, stream: boolean, count: number) {
      const calls: Awaited<ReturnType<typeof call>>[] = [];
      for (let index = 0; index < count; index += 1) calls.push(await call(path, stream));
      return calls;
    },
    /** Runs calls for `ms`, `width` at once. Returns their number and the elapsed milliseconds. */
    async flood(path: Path, stream: boolean, at: { width: number; ms: number }) {
      const started = performance.now();
      let count = 0;
      await Promise.all(
        Array.from({ length: at.width }, async () => {
          while (performance.now() - started < at.ms) {
            await call(path, stream);
            count += 1;
          }
        }),
      );
      return { count, ms: performance.now() - started };
    },
    close: () => agent.close(),
  };
}
