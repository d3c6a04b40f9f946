// Tests: test/gateway/pairs.test.ts
import type { IncomingHttpHeaders } from 'node:http';
import type { WireFormat } from '../../inference/config.ts';
import type { ModelReply, ModelRequest } from '../../inference/model.ts';
import type { PassThroughTarget } from '../../inference/pass-through.ts';
import type { SseEvent } from '../../inference/upstream/dialect.ts';
import type { GatewayError } from '../gateway-error.ts';
import type { ReplyEvent } from '../sequence.ts';

/** A JSON object from a client or an upstream, not validated. */
export type JsonObject = Record<string, unknown>;

/** Identifies one response. `id` has no prefix yet; `created` and `now()` are Unix seconds. */
export type ResponseMeta = { id: string; created: number; requestId: string; now: () => number };

/** Writes a reply as frames of the format's event stream. Each string holds whole frames, or is empty. */
export type FrameWriter = {
  push(event: ReplyEvent): string;
  /** The last frames of a stream that fails midway. */
  fail(fault: GatewayError): string;
};

/** How to forward a call unchanged to an upstream of the same format. */
export type PassThrough = {
  /**
   * the error if no upstream of the format is available and translation cannot serve the call; absent: the call can
   * also be translated
   */
  refusal?: GatewayError | undefined;
  /** whether any upstream of the format may be used, even one without `passThrough` */
  anyOfFormat?: boolean;
  /** the body for an upstream of the same format; the model's name is set later */
  buildBody: (body: JsonObject, target: PassThroughTarget) => JsonObject;
  open(meta: ResponseMeta): PassThroughWriter;
};

/** Forwards the events of one reply. A reply that is not streamed is one event. */
export type PassThroughWriter = {
  /** the data for the client; undefined: the client did not ask for this event */
  take(event: SseEvent): string | undefined;
  /** The last frames of a stream that fails midway. */
  fail(fault: GatewayError): string;
};

/** One parsed request of a client. */
export type ClientCall = {
  request: ModelRequest;
  stream: boolean;
  /** whether the response includes reasoning, if the model shows any */
  reasoning: boolean;
  /** whether reasoning is written as summaries, because the client asks for them */
  summaries?: boolean;
  buildFinal: (reply: ModelReply, meta: ResponseMeta) => JsonObject;
  /** absent: the call is always translated */
  passThrough?: PassThrough;
  buildFrames: (meta: ResponseMeta) => FrameWriter;
};

/** A wire format on the client's side. Pure: no clock, no randomness, no I/O. */
export type ClientDialect = {
  name: WireFormat;
  /** Throws a `GatewayError` that names the field. */
  readCall: (body: JsonObject) => ClientCall;
  /** whether an image for a text-only model is an error; otherwise a note replaces the image */
  rejectsImagesForTextModels: boolean;
  /** a frame without content */
  keepalive: string;
  buildError: (fault: GatewayError, requestId: string) => JsonObject;
  /** another response header for the request's id, if SDKs of the format read it there */
  requestIdHeader?: string;
  /** Throws a `GatewayError` for headers that the format does not allow. */
  checkHeaders?: (headers: IncomingHttpHeaders) => void;
};

export function writeData(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

export function writeEvent(event: string, value: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`;
}
