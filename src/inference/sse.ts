import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';
import { ModelError } from './model.ts';
import type { SseEvent } from './upstream/dialect.ts';

/** Maximum characters of one event, or of a whole JSON reply. */
const MAX_EVENT = 16 * 1024 * 1024;
/** Maximum whitespace before the first character. */
const MAX_BLANKS = 64 * 1024;

function tooLarge(): ModelError {
  return new ModelError('upstream', 'The provider sent an event that is too large.');
}

type Shape = 'unknown' | 'events' | 'json';

/** Detects the shape by the first character: providers and proxies send JSON with any content type. */
function decideShape(text: string): Shape {
  const [first] = text;
  if (first === '<') {
    throw new ModelError(
      'upstream',
      'The provider answered with a web page; a proxy may have intercepted the request.',
    );
  }
  return first === '{' || first === '[' ? 'json' : 'events';
}

/** Parses a body incrementally: an event stream, or one event with a whole JSON body. */
export type EventReader = {
  /** Appends the events that are complete. Throws a `ModelError` if the body is not an event stream or is too large. */
  push(chunk: Uint8Array, out: SseEvent[]): void;
  end(out: SseEvent[]): void;
};

export function buildEventReader(): EventReader {
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
  let blanks = 0;
  const held: string[] = [];
  let heldSize = 0;

  /** Feeds complete lines only: the parser rescans an incomplete line with every chunk. */
  function feed(text: string): void {
    held.push(text);
    heldSize += text.length;
    if (heldSize > MAX_EVENT) throw tooLarge();
    if (!/[\r\n]/.test(text)) return;
    parser.feed(held.join(''));
    held.length = 0;
    heldSize = 0;
    if (overflow) throw tooLarge();
  }

  function push(text: string): void {
    if (shape === 'json') {
      json += text;
      if (json.length > MAX_EVENT) throw tooLarge();
      return;
    }
    if (shape === 'events') return feed(text);
    const begun = text.trimStart();
    blanks += text.length - begun.length;
    if (blanks > MAX_BLANKS) throw tooLarge();
    if (begun === '') return;
    shape = decideShape(begun);
    push(begun);
  }

  function take(out: SseEvent[]): void {
    for (const event of queue) out.push(event);
    queue.length = 0;
  }

  return {
    push(chunk, out) {
      push(decoder.write(chunk));
      take(out);
    },
    end(out) {
      if (shape === 'json') {
        out.push({ data: json.trimStart() });
        return;
      }
      // The last event may lack its terminating blank line.
      push(`${decoder.end()}\n\n`);
      take(out);
    },
  };
}
