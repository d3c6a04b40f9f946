import type { UpstreamFormat } from '../config.ts';
import type { AwsAccess, GoogleAccess } from '../credentials/config.ts';
import type { ModelDelta, ModelRequest, ReasoningEffort } from '../model.ts';

/** One event of an upstream's stream, or a whole JSON body instead of a stream. */
export type SseEvent = { event?: string | undefined; data: string };

/** One upstream model as a dialect sees it. */
export type UpstreamTarget = {
  /** `<provider>/<id>`: the model in deltas, and the issuer of reasoning signatures */
  name: string;
  /** the upstream's own id */
  model: string;
  format: UpstreamFormat;
  baseUrl: string;
  timeoutMs: number;
  apiKey?: string;
  /** header of the key; absent: the format's own */
  apiKeyHeader?: string;
  /** several keys, used in turn instead of `apiKey` */
  apiKeys?: readonly string[];
  /** signs calls without `apiKey` */
  aws?: AwsAccess;
  /** obtains tokens for calls without `apiKey` */
  google?: GoogleAccess;
  /** fields set in the body of every call */
  extraBody?: Record<string, unknown>;
  headers?: Record<string, string>;
  vision: boolean;
  /** false: it rejects a reasoning effort */
  reasoning?: boolean;
  /** the efforts that it accepts, rising; absent: unknown */
  efforts?: readonly ReasoningEffort[];
  /** whether calls of this format are forwarded unchanged */
  passThrough?: boolean;
  maxOutputTokens?: number;
  /** set by a caller instead of the operator: reachable through the egress guard alone */
  isGuarded?: boolean;
  /** whether it forwards calls to other upstreams, and its replies name the model that answered */
  relays?: boolean;
};

/** `path` follows the base URL. `bytes` is the serialized `body`. */
export type UpstreamRequest = {
  path: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  bytes?: Uint8Array | undefined;
};

/**
 * A state machine over the events of one reply. `push` appends the deltas of an event and returns whether the reply is
 * complete; `end` is called when the stream ends before that. Both throw a `ModelError` for invalid events.
 */
export type DeltaReader = {
  push(event: SseEvent, out: ModelDelta[]): boolean;
  end(out: ModelDelta[]): void;
};

export type Dialect = {
  /** whether the format has stop sequences; if not, replies are cut here */
  hasStop: boolean;
  /** the most that one request may have; of more, all are also cut here. Absent: no limit is known */
  maxStops?: number;
  buildRequest(request: ModelRequest, target: UpstreamTarget): UpstreamRequest;
  buildReader(target: UpstreamTarget): DeltaReader;
  /** absent: the format cannot count input tokens */
  buildCountRequest?(request: ModelRequest, target: UpstreamTarget): UpstreamRequest;
};

/** A reply in progress. `complete` is called when the remaining events are not needed. */
export type Reply = { events: AsyncIterable<SseEvent>; complete(): void };

/** Runs a reader over a reply, up to the event that completes it. */
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
