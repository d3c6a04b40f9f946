import type { WireFormat } from '../config.ts';
import type { ModelDelta, ModelRequest } from '../model.ts';

/** One event of an upstream's stream, or a whole JSON body that came instead of a stream. */
export type SseEvent = { event?: string | undefined; data: string };

/** One upstream model as a dialect sees it. */
export type UpstreamTarget = {
  /** `<provider>/<id>`: what deltas call the model, and who issues its reasoning proofs */
  name: string;
  /** the upstream's own id */
  model: string;
  format: WireFormat;
  baseUrl: string;
  timeoutMs: number;
  apiKey?: string;
  headers?: Record<string, string>;
  vision: boolean;
  /** false: it refuses to be told how much to reason */
  reasoning?: boolean;
  /** whether calls in this very format go through as they are */
  passThrough?: boolean;
  maxOutputTokens?: number;
  /** whether it passes calls on to others, and its replies say which of them answered */
  relays?: boolean;
};

/** `path` follows the base URL. The body is JSON. */
export type UpstreamRequest = { path: string; headers: Record<string, string>; body: Record<string, unknown> };

/**
 * A state machine over the events of one reply. `push` appends what an event means and says whether the reply is
 * complete; `end` is for a stream that stopped before that. Both throw a `ModelError` for what the upstream did wrong.
 */
export type DeltaReader = {
  push(event: SseEvent, out: ModelDelta[]): boolean;
  end(out: ModelDelta[]): void;
};

export type Dialect = {
  /** whether the format has stop sequences; where it has none, replies are cut here */
  hasStop: boolean;
  buildRequest(request: ModelRequest, target: UpstreamTarget): UpstreamRequest;
  buildReader(target: UpstreamTarget): DeltaReader;
  /** absent: the format has no way to ask for a count of input tokens */
  buildCountRequest?(request: ModelRequest, target: UpstreamTarget): UpstreamRequest;
};

/** A reply on its way. `complete` is told when nothing more of the events is of use. */
export type Reply = { events: AsyncIterable<SseEvent>; complete(): void };

/** Runs a reader over a reply. Nothing after the end of it is read. */
export async function* readDeltas(open: () => Promise<Reply>, reader: DeltaReader): AsyncGenerator<ModelDelta> {
  const reply = await open();
  const out: ModelDelta[] = [];
  for await (const event of reply.events) {
    const complete = reader.push(event, out);
    if (complete) reply.complete();
    if (out.length > 0) {
      for (const delta of out) yield delta;
      out.length = 0;
    }
    if (complete) return;
  }
  reader.end(out);
  for (const delta of out) yield delta;
}
