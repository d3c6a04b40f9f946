import { createHash, randomUUID } from 'node:crypto';

/** The caller's span, as the W3C header `traceparent` names it. Ids are lower-case hexadecimal. */
export type TraceParent = { traceId: string; spanId: string; sampled: boolean };

/**
 * The trace that a request or a turn belongs to. `parent` is the caller's span; absent: the work begins the trace. `state`
 * is the caller's `tracestate`, handed on unread.
 */
export type Trace = { traceId: string; sampled: boolean; parent?: string; state?: string };

/** One timed piece of work in a trace. Times are milliseconds since 1970. */
export type SpanRecord = {
  traceId: string;
  spanId: string;
  /** absent: the root of the trace */
  parentId?: string;
  sampled: boolean;
  name: string;
  kind: 'internal' | 'client' | 'server';
  startMs: number;
  endMs: number;
  attributes: Record<string, string | number | boolean | string[]>;
  links?: { traceId: string; spanId: string }[];
  /** why it failed; absent: it did not */
  error?: string;
};

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Characters of a `tracestate` that are kept; the specification asks for 512 at least. */
const MAX_STATE = 512;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

/** The caller's span; undefined for a header that is malformed, which counts as absent. */
export function parseTraceparent(header: unknown): TraceParent | undefined {
  if (typeof header !== 'string' || header.length > 256) return undefined;
  const [, version = 'ff', traceId = NO_TRACE, spanId = NO_SPAN, flags = '', more] = TRACEPARENT.exec(header) ?? [];
  if (version === 'ff' || traceId === NO_TRACE || spanId === NO_SPAN) return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceparent({ traceId, spanId, sampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** The trace of a request: the caller's, or a new one. */
export function readTrace(headers: Readonly<Record<string, unknown>>): Trace {
  const parent = parseTraceparent(headers['traceparent']);
  if (parent === undefined) return { traceId: randomUUID().replaceAll('-', ''), sampled: true };
  const state = headers['tracestate'];
  const { traceId, sampled, spanId } = parent;
  const isKept = typeof state === 'string' && state !== '' && state.length <= MAX_STATE && /^[\x20-\x7e]+$/.test(state);
  return { traceId, sampled, parent: spanId, ...(isKept ? { state } : {}) };
}

function digest(parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex');
}

/**
 * The id of a span, made of what it describes: a worker that takes a turn over, and whoever builds the trace from the log
 * later, give a span the same id.
 */
export function deriveSpanId(...parts: readonly (string | number)[]): string {
  return digest(parts).slice(0, 16);
}

/** The id of a trace that no caller has named. */
export function deriveTraceId(...parts: readonly (string | number)[]): string {
  return digest(parts).slice(0, 32);
}
