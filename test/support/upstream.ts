import type { UpstreamFormat } from '../../src/inference/config.ts';
import { collectReply } from '../../src/inference/collect.ts';
import type { AssistantPart, ModelDelta, ModelReply, ModelRequest } from '../../src/inference/model.ts';
import { buildFrameReader } from '../../src/inference/event-frames.ts';
import { buildEventReader } from '../../src/inference/sse.ts';
import type { EventReader } from '../../src/inference/sse.ts';
import { DIALECTS } from '../../src/inference/upstream/dialects.ts';
import { readDeltas } from '../../src/inference/upstream/dialect.ts';
import type { SseEvent, UpstreamTarget } from '../../src/inference/upstream/dialect.ts';
import { encodeBytes } from './model-server/encode.ts';
import type { Wire, WireEvent } from './model-server/pieces.ts';

export function buildTarget(format: UpstreamFormat, fields: Partial<UpstreamTarget> = {}): UpstreamTarget {
  return {
    name: 'acme/small',
    model: 'small',
    format,
    baseUrl: 'http://127.0.0.1:1/v1',
    timeoutMs: 60_000,
    vision: true,
    ...fields,
  };
}

export function buildRequest(fields: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: 'acme/small',
    system: '',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    tools: [],
    ...fields,
  };
}

export const WEATHER_TOOL = {
  name: 'weather',
  description: 'Tells the weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};

async function* readEvents(chunks: Iterable<Uint8Array>): AsyncGenerator<SseEvent> {
  let reader: EventReader | undefined;
  const events: SseEvent[] = [];
  for (const chunk of chunks) {
    if (chunk.length === 0) continue;
    // The length of a frame begins with a zero byte; JSON and text do not.
    reader ??= chunk[0] === 0 ? await buildFrameReader() : buildEventReader();
    reader.push(chunk, events);
    yield* events.splice(0);
  }
  reader?.end(events);
  yield* events;
}

/** The deltas of a body, cut as given. */
export function streamBytes(target: UpstreamTarget, chunks: Iterable<Uint8Array>): AsyncGenerator<ModelDelta> {
  const reply = { events: readEvents(chunks), complete: () => {} };
  return readDeltas(() => Promise.resolve(reply), DIALECTS[target.format].buildReader(target));
}

/** What comes out of bytes of a body, cut as given. */
export function readBytes(target: UpstreamTarget, chunks: Uint8Array[]): Promise<ModelReply> {
  return collectReply(streamBytes(target, chunks));
}

export function readBody(format: UpstreamFormat, body: string): Promise<ModelReply> {
  return readBytes(buildTarget(format), [Buffer.from(body)]);
}

/** What comes out of events; the end of the stream follows the last one. */
export function readWire(format: UpstreamFormat, events: (Wire | string)[]): Promise<ModelReply> {
  const wire = events.map((event): WireEvent => {
    if (typeof event === 'string') return { data: event };
    return typeof event.data === 'string' ? (event as WireEvent) : { data: JSON.stringify(event) };
  });
  return readBytes(buildTarget(format), [encodeBytes(format, wire)]);
}

/** The calls of a reply without their ids. */
export function callsOf(content: AssistantPart[]): [string, string][] {
  return content.flatMap((part): [string, string][] =>
    part.type === 'tool_call' ? [[part.name, part.arguments]] : [],
  );
}

export function callIdsOf(content: AssistantPart[]): string[] {
  return content.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []));
}
