import { AsyncLocalStorage } from 'node:async_hooks';
import { formatTraceparent } from './trace-context.ts';
import type { Trace } from './trace-context.ts';

/** What each log line says of the work that it belongs to. */
export type WorkIds = {
  requestId?: string;
  traceId?: string;
  organizationId?: string;
  sessionId?: string;
  turnId?: string;
  tool?: string;
  /** the periodic task or the kind of job */
  job?: string;
};

/** `outgoing`: headers of its own requests. */
export type WorkContext = { ids: WorkIds; outgoing?: Readonly<Record<string, string>> };

const current = new AsyncLocalStorage<WorkContext>();
const NOTHING: WorkIds = {};
const NO_HEADERS: Readonly<Record<string, string>> = {};

/** Runs a piece of work whose log lines carry these ids, in addition to those of the work around it. */
export function runWork<T>(ids: WorkIds, run: () => T): T {
  const outer = current.getStore();
  return current.run({ ...outer, ids: { ...outer?.ids, ...ids } }, run);
}

/** The context of work that begins outside of any other: a request. It is entered with `enterWork`, as often as needed. */
export function openWork(ids: WorkIds, trace: Trace): WorkContext {
  return trace.parent === undefined ? { ids } : { ids, outgoing: buildHeaders(trace, trace.parent) };
}

export function enterWork(work: WorkContext, run: () => void): void {
  current.run(work, run);
}

/** Runs a piece of work that is not part of the work around it, such as a session that a request has woken. */
export function startWork<T>(ids: WorkIds, run: () => T): T {
  return current.run({ ids: { ...ids } }, run);
}

/** Adds ids that became known while the work runs. */
export function addWorkIds(ids: WorkIds): void {
  const work = current.getStore();
  if (work !== undefined) Object.assign(work.ids, ids);
}

/** Names a span of this request's own as the parent of the requests that it makes from now on. */
export function setSpan(trace: Trace, spanId: string): void {
  const work = current.getStore();
  if (work !== undefined) work.outgoing = buildHeaders(trace, spanId);
}

/** The ids of the work under way. Not to be changed. */
export function currentWorkIds(): Readonly<WorkIds> {
  return current.getStore()?.ids ?? NOTHING;
}

/** Runs a call whose outgoing requests name this span as their parent; without a trace they name none. */
export function runSpan<T>(trace: Trace | undefined, spanId: string, run: () => T): T {
  if (trace === undefined) return run();
  return current.run({ ids: current.getStore()?.ids ?? {}, outgoing: buildHeaders(trace, spanId) }, run);
}

function buildHeaders({ traceId, sampled, state }: Trace, spanId: string): Readonly<Record<string, string>> {
  const traceparent = formatTraceparent({ traceId, spanId, sampled });
  return state === undefined ? { traceparent } : { traceparent, tracestate: state };
}

/** Headers that tell a server which span calls it; none where nothing is traced. */
export function traceHeaders(): Readonly<Record<string, string>> {
  return current.getStore()?.outgoing ?? NO_HEADERS;
}
