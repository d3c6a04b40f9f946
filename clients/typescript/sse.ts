/** One message of a stream; the last event id is what the stream has said so far. */
export type SseMessage = { data: string; lastEventId: string };

/** Takes a stream of Server-Sent Events apart, by the rules of the HTML standard. A message without data only moves the id. */
export function buildSseParser(onMessage: (message: SseMessage) => void): (text: string) => void {
  let rest = '';
  let data: string[] = [];
  let lastEventId = '';
  let first = true;

  function takeLine(line: string): void {
    if (line === '') {
      onMessage({ data: data.join('\n'), lastEventId });
      data = [];
      return;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    if (field === 'id' && !value.includes('\0')) lastEventId = value;
  }

  return (text) => {
    rest += first ? text.replace(/^\uFEFF/, '') : text;
    first &&= text === '';
    // A CR at the end may be the first half of CR LF.
    const held = rest.endsWith('\r') ? '\r' : '';
    const lines = rest.slice(0, rest.length - held.length).split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? '') + held;
    for (const line of lines) takeLine(line);
  };
}

/** The messages of a body, as they come. */
export async function* readSse(body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<SseMessage> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const ready: SseMessage[] = [];
  const parse = buildSseParser((message) => ready.push(message));
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      parse(decoder.decode(value, { stream: true }));
      yield* ready.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
