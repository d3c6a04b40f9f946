import { ModelError } from '../inference/model.ts';
import type { NativeEvent } from '../inference/native.ts';
import type { SseEvent } from '../inference/upstream/dialect.ts';
import type { NativeWriter } from './dialects/dialect.ts';
import { buildSequencer } from './sequence.ts';
import type { ReplyEvent } from './sequence.ts';
import type { ClientStream } from './stream.ts';
import type { Meter } from './usage/meter.ts';

/** A call that goes to its upstream as it came. */
export type Native = { open: (signal: AbortSignal) => AsyncIterable<NativeEvent>; writer: NativeWriter };

/** The event with its data as they came, byte for byte; only the line ends are ours. */
function frame({ event }: SseEvent, data: string): string {
  const name = event === undefined ? '' : `event: ${event}\n`;
  return `${name}data: ${/[\r\n]/.test(data) ? data.replaceAll(/\r\n?|\n/g, '\ndata: ') : data}\n\n`;
}

/** Counts what goes by. */
function buildCounter(meter: Meter): (native: NativeEvent) => boolean {
  const sequencer = buildSequencer({ reasoning: false });
  const out: ReplyEvent[] = [];
  return ({ deltas }) => {
    for (const delta of deltas) {
      meter.note(delta);
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
export async function writeNative(
  meter: Meter,
  { open, writer }: Native,
  signal: AbortSignal,
  stream: ClientStream,
): Promise<void> {
  const count = buildCounter(meter);
  for await (const native of open(signal)) {
    const ended = count(native);
    const data = native.event.data === '' ? undefined : writer.take(native.event);
    const text = data === undefined ? '' : frame(native.event, data);
    if (ended) return stream.end(text);
    if (text === '') continue;
    if (!stream.hasBegun()) meter.begin();
    const room = stream.write(text);
    if (room !== undefined) await room;
  }
}

/** The upstream's reply as it came. */
export async function collectNative(meter: Meter, { open, writer }: Native, signal: AbortSignal): Promise<string> {
  const count = buildCounter(meter);
  let body: SseEvent | undefined;
  let ended = false;
  for await (const native of open(signal)) {
    ended ||= count(native);
    if (native.event.data !== '') body ??= native.event;
  }
  if (body === undefined || !ended) throw new ModelError('upstream', "The provider's reply was cut off.");
  return writer.take(body) ?? body.data;
}
