import type { TestGateway } from './harness.ts';

const call = (id: string, city: string) =>
  ({ type: 'tool_call', id, name: 'weather', arguments: JSON.stringify({ city }) }) as const;

/**
 * A model that asks for two calls of the tool `weather` at once, then sums up what came back; `chunked`: in pieces of a few
 * bytes.
 */
export function scriptLoop({ upstream }: TestGateway, chunked = true): void {
  upstream.script(({ body }) => {
    const text = JSON.stringify(body);
    if (text.includes('sunny in Ulm') && text.includes('sunny in Bonn')) {
      return {
        reply: { content: [{ type: 'text', text: 'Sunny 🌞 everywhere' }] },
        ...(chunked ? { chunkBytes: 7 } : {}),
      };
    }
    return {
      reply: { content: [{ type: 'text', text: 'Let me see.' }, call('call_a', 'Ulm'), call('call_b', 'Bonn')] },
      ...(chunked ? { chunkBytes: 11 } : {}),
    };
  });
}

/** A model that thinks and then answers this text, whatever it is asked. */
export function scriptReasoned({ upstream }: TestGateway, text: string): void {
  upstream.script(() => ({
    reply: {
      content: [
        { type: 'reasoning', text: 'Look outside.' },
        { type: 'text', text },
      ],
    },
  }));
}
