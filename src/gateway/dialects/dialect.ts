import type { IncomingHttpHeaders } from 'node:http';
import type { WireFormat } from '../../inference/config.ts';
import type { ModelReply, ModelRequest } from '../../inference/model.ts';
import type { NativeTarget } from '../../inference/native.ts';
import type { SseEvent } from '../../inference/upstream/dialect.ts';
import type { GatewayError } from '../gateway-error.ts';
import type { ReplyEvent } from '../sequence.ts';

/** What came over the wire: nothing about it is certain. */
export type Wire = Record<string, unknown>;

/** What makes one answer this one: `id` has no prefix yet, `created` and what `now` tells are in seconds. */
export type Moment = { id: string; created: number; requestId: string; now: () => number };

/** Writes a reply as frames of the format's event stream; a text holds whole frames only, or nothing. */
export type FrameWriter = {
  push(event: ReplyEvent): string;
  /** The stream's end when it fails midway. */
  fail(fault: GatewayError): string;
};

/** What lets a call go to an upstream of its own format as it came. */
export type PassThrough = {
  /**
   * what to say where the call cannot go through, because it asks for what no other way can serve; absent: it goes
   * through for speed and for fields that the internal shape lacks
   */
  needed?: GatewayError | undefined;
  /** whether any upstream of the format will do, also one whose calls are translated otherwise */
  anyOfFormat?: boolean;
  /** the body for an upstream that takes the very same format, but for its name of the model */
  buildBody: (body: Wire, target: NativeTarget) => Wire;
  open(moment: Moment): NativeWriter;
};

/** Passes the events of one reply on. A whole reply is one event. */
export type NativeWriter = {
  /** the data that the client gets; undefined: the event is the gateway's own doing */
  take(event: SseEvent): string | undefined;
  /** The stream's end when it fails midway. */
  fail(fault: GatewayError): string;
};

/** One request of a client, understood. */
export type ClientCall = {
  request: ModelRequest;
  stream: boolean;
  /** whether the answer has reasoning in it, where the model shows any */
  reasoning: boolean;
  buildFinal: (reply: ModelReply, moment: Moment) => Wire;
  /** absent: it is always translated */
  passThrough?: PassThrough;
  openFrames: (moment: Moment) => FrameWriter;
};

/** A wire format as clients speak it. Pure: no clock, no chance, no I/O. */
export type ClientDialect = {
  name: WireFormat;
  /** Throws a `GatewayError` that names the field. */
  readCall: (body: Wire) => ClientCall;
  /** whether an image for a model without eyes is an error; else the model reads a note in its place */
  refusesBlindImages: boolean;
  /** a frame that means nothing */
  keepalive: string;
  buildError: (fault: GatewayError, requestId: string) => Wire;
  /** a further response header that holds the request's id, where SDKs of the format look for it */
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
