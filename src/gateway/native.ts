import { ModelError } from '../inference/model.ts';
import type { NativeEvent } from '../inference/native.ts';
import type { SseEvent } from '../inference/upstream/dialect.ts';
import type { ClientCall } from './dialects/dialect.ts';
import { buildSequencer } from './sequence.ts';
import type { ReplyEvent } from './sequence.ts';
import type { ClientStream } from './stream.ts';
import type { Meter } from './usage/meter.ts';

type Task = { call: ClientCall; meter: Meter };

/** The event with its data as they came, byte for byte; only the line ends are ours. */
function frame({ event, data }: SseEvent): string {
  const name = event === undefined ? '' : `event: ${event}\n`;
  return `${name}data: ${data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data}\n\n`;
}

/** Counts what goes by. */
function buildCounter({ meter }: Task): (native: NativeEvent) => boolean {
  const sequencer = buildSequencer({ reasoning: false });
  const out: ReplyEvent[] = [];
  return ({ deltas }) => {
    for (const delta of deltas) {
      // Only the ends are of use here: the content is the client's.
      if (delta.type !== 'start' && delta.type !== 'finish') continue;
      sequencer.push(delta, out);
    }
    const last = out.at(-1);
    out.length = 0;
    if (last?.type !== 'finish') return false;
    meter.finish(last.reply);
    return true;
  };
}

/** Passes the upstream's events on, one by one. */
export async function writeNative(task: Task, events: AsyncIterable<NativeEvent>, stream: ClientStream): Promise<void> {
  const count = buildCounter(task);
  for await (const native of events) {
    const ended = count(native);
    const kept = native.event.data !== '' && task.call.passThrough?.keeps(native.event) === true;
    const text = kept ? frame(native.event) : '';
    if (ended) return stream.end(text);
    if (text === '') continue;
    if (!stream.begun) task.meter.begin();
    const room = stream.write(text);
    if (room !== undefined) await room;
  }
}

/** The upstream's reply as it came. */
export async function collectNative(task: Task, events: AsyncIterable<NativeEvent>): Promise<string> {
  const count = buildCounter(task);
  let body: string | undefined;
  let ended = false;
  for await (const native of events) {
    ended ||= count(native);
    if (native.event.data !== '') body ??= native.event.data;
  }
  if (body === undefined || !ended) throw new ModelError('upstream', "The provider's reply was cut off.");
  return body;
}
