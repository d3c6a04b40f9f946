import { ModelError } from '../inference/model.ts';
import type { ModelReply } from '../inference/model.ts';
import type { PassThroughEvent } from '../inference/pass-through.ts';
import type { SseEvent } from '../inference/upstream/dialect.ts';
import type { PassThroughWriter } from './dialects/dialect.ts';
import { finishReply } from './finish-reply.ts';
import type { ReplyWatch } from './finish-reply.ts';
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

/** Meters the events of a reply. Returns the reply once it is complete; without content unless it is checked. */
function buildCounter({ meter, check }: ReplyWatch): (passThrough: PassThroughEvent) => ModelReply | undefined {
  const isChecked = check !== undefined;
  const sequencer = buildSequencer({ reasoning: isChecked });
  const out: ReplyEvent[] = [];
  return ({ deltas }) => {
    for (const delta of deltas) {
      meter.note(delta);
      // The content is not needed for metering.
      if (!isChecked && delta.type !== 'start' && delta.type !== 'finish') continue;
      sequencer.push(delta, out);
    }
    const last = out.at(-1);
    out.length = 0;
    if (last?.type !== 'finish') return undefined;
    return last.reply;
  };
}

/** Forwards the upstream's events one by one. */
export async function writePassThrough(
  watch: ReplyWatch,
  { open, writer }: PassThroughReply,
  signal: AbortSignal,
  stream: ClientStream,
): Promise<void> {
  const count = buildCounter(watch);
  for await (const passThrough of open(signal)) {
    const ended = count(passThrough);
    const data = passThrough.event.data === '' ? undefined : writer.take(passThrough.event);
    const text = data === undefined ? '' : frame(passThrough.event, data);
    if (ended !== undefined) {
      await finishReply(watch, ended);
      await watch.meter.settled();
      return stream.end(text);
    }
    if (text === '') continue;
    if (!stream.hasBegun()) watch.meter.begin();
    const room = stream.write(text);
    if (room !== undefined) await room;
  }
}

/** The upstream's whole reply, unchanged but for `inspect`. */
export async function collectPassThrough(
  meter: Meter,
  { open, writer }: PassThroughReply,
  signal: AbortSignal,
  inspect: (text: string) => Promise<string>,
): Promise<string> {
  const count = buildCounter({ meter });
  let body: SseEvent | undefined;
  let whole: ModelReply | undefined;
  for await (const passThrough of open(signal)) {
    whole ??= count(passThrough);
    if (passThrough.event.data !== '') body ??= passThrough.event;
  }
  if (body === undefined || whole === undefined) throw new ModelError('upstream', "The provider's reply was cut off.");
  let text = writer.take(body) ?? body.data;
  const check = async () => {
    text = await inspect(text);
  };
  await finishReply({ meter, check }, whole);
  await meter.settled();
  return text;
}
