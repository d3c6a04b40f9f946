import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';
import { ModelError } from './model.ts';
import type { SseEvent } from './upstream/dialect.ts';

/** Characters of one event, or of a whole JSON reply, that are held at most. */
const MAX_EVENT = 64 * 1024 * 1024;

function tooLarge(): ModelError {
  return new ModelError('upstream', 'The provider sent an event that is too large.');
}

type Shape = 'unknown' | 'events' | 'json';

/** By the first character: providers and proxies send JSON under any content type. */
function decideShape(text: string): Shape {
  const first = text.trimStart()[0];
  if (first === undefined) return 'unknown';
  if (first === '<') {
    throw new ModelError('upstream', 'The provider answered with a web page; something between us and it intervened.');
  }
  return first === '{' || first === '[' ? 'json' : 'events';
}

/**
 * The events of a body: an event stream, or one event with a whole JSON body. Reads no further than the consumer does.
 * Throws the signal's reason as soon as it aborts.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<SseEvent> {
  const decoder = new StringDecoder('utf8');
  const queue: SseEvent[] = [];
  let overflow = false;
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent: (event) => queue.push(event),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') overflow = true;
    },
  });
  let shape = 'unknown' as Shape;
  let json = '';

  function push(text: string): void {
    if (shape === 'unknown') {
      json += text;
      shape = decideShape(json);
      if (shape !== 'events') return;
      parser.feed(json);
      json = '';
    } else if (shape === 'json') {
      json += text;
    } else {
      parser.feed(text);
    }
    if (overflow || json.length > MAX_EVENT) throw tooLarge();
  }

  for await (const chunk of body) {
    push(decoder.write(chunk));
    for (const event of queue) {
      if (signal.aborted) throw signal.reason;
      yield event;
    }
    queue.length = 0;
  }
  if (shape === 'json') {
    yield { data: json.trimStart() };
    return;
  }
  // The last event may lack its blank line.
  push(`${decoder.end()}\n\n`);
  yield* queue;
}
