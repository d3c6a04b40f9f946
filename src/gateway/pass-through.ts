import { ModelError } from '../inference/model.ts';
import type { PassThroughEvent } from '../inference/pass-through.ts';
import type { SseEvent } from '../inference/upstream/dialect.ts';
import type { PassThroughWriter } from './dialects/dialect.ts';
import { buildSequencer } from './sequence.ts';
import type { ReplyEvent } from './sequence.ts';
import type { ClientStream } from './stream.ts';
import type { Meter } from './usage/meter.ts';

/** A reply of an upstream that is forwarded unchanged. */
export type PassThroughReply = {
  open: (signal: AbortSignal) => AsyncIterable<PassThroughEvent>;
  writer: PassThroughWriter;
};

/** Writes an event with its data unchanged; only line ends are normalized. */
function frame({ event }: SseEvent, data: string): string {
  const name = event === undefined ? '' : `event: ${event}\n`;
  return `${name}data: ${/[\r\n]/.test(data) ? data.replaceAll(/\r\n?|\n/g, '\ndata: ') : data}\n\n`;
}

/** Meters the events of a reply. The result says whether the reply is complete. */
function buildCounter(meter: Meter): (passThrough: PassThroughEvent) => boolean {
  const sequencer = buildSequencer({ reasoning: false });
  const out: ReplyEvent[] = [];
  return ({ deltas }) => {
    for (const delta of deltas) {
      meter.note(delta);
      // The content is not needed for metering.
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

/** Forwards the upstream's events one by one. */
export async function writePassThrough(
  meter: Meter,
  { open, writer }: PassThroughReply,
  signal: AbortSignal,
  stream: ClientStream,
): Promise<void> {
  const count = buildCounter(meter);
  for await (const passThrough of open(signal)) {
    const ended = count(passThrough);
    const data = passThrough.event.data === '' ? undefined : writer.take(passThrough.event);
    const text = data === undefined ? '' : frame(passThrough.event, data);
    if (ended) {
      await meter.settled();
      return stream.end(text);
    }
    if (text === '') continue;
    if (!stream.hasBegun()) meter.begin();
    const room = stream.write(text);
    if (room !== undefined) await room;
  }
}

/** The upstream's whole reply, unchanged. */
export async function collectPassThrough(
  meter: Meter,
  { open, writer }: PassThroughReply,
  signal: AbortSignal,
): Promise<string> {
  const count = buildCounter(meter);
  let body: SseEvent | undefined;
  let ended = false;
  for await (const passThrough of open(signal)) {
    ended ||= count(passThrough);
    if (passThrough.event.data !== '') body ??= passThrough.event;
  }
  await meter.settled();
  if (body === undefined || !ended) throw new ModelError('upstream', "The provider's reply was cut off.");
  return writer.take(body) ?? body.data;
}
