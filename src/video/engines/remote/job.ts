import { setTimeout as delay } from 'node:timers/promises';
import { RenderError } from '../engine.ts';
import type { RenderContext } from '../engine.ts';

export type JobStatus<T> =
  | { state: 'waiting'; progress?: number }
  | { state: 'done'; result: T }
  | { state: 'failed'; error: RenderError }
  /** the engine does not know the job */
  | { state: 'unknown' };

/** The operations of a job at an engine, one implementation per adapter. */
export type RemoteJob<T> = {
  /**
   * Starts the job and returns its handle. `save` stores a handle that is known before the job starts. It has no signal: if
   * the start were aborted midway, the handle would be unknown and the job could not be cancelled.
   */
  submit(save: (handle: string) => Promise<void>): Promise<string>;
  look(handle: string, signal: AbortSignal): Promise<JobStatus<T>>;
  cancel(handle: string): Promise<void>;
};

export type JobOptions = { pollMs: number; deadlineMs: number };

/** A distributed engine may need a moment until all of its machines know a new job. */
const MAX_UNKNOWN_POLLS = 3;

/**
 * Starts a job, or attaches to the job of an earlier attempt, and polls it until it ends. A job that exceeds the deadline is
 * cancelled. Throws a `RenderError`, or the signal's reason; the job then continues.
 */
export async function runJob<T>(job: RemoteJob<T>, context: RenderContext, options: JobOptions): Promise<T> {
  const { signal } = context;
  const begun = performance.now();
  signal.throwIfAborted();
  const handle = context.handle ?? (await submit(job, context));
  signal.throwIfAborted();
  let known = 0;
  for (let unknown = 0; ;) {
    const look = await job.look(handle, signal);
    if (look.state === 'done') return look.result;
    if (look.state === 'failed') throw look.error;
    unknown = look.state === 'unknown' ? unknown + 1 : 0;
    if (unknown >= MAX_UNKNOWN_POLLS) throw new RenderError('engine_error', 'The engine has lost the job.');
    if (look.state === 'waiting' && look.progress !== undefined && look.progress > known) {
      known = Math.min(1, look.progress);
      context.onProgress(known);
    }
    if (performance.now() - begun > options.deadlineMs) {
      await job.cancel(handle).catch(() => undefined);
      throw new RenderError('timeout', 'The engine did not finish in time.');
    }
    await delay(options.pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

async function submit<T>(job: RemoteJob<T>, context: RenderContext): Promise<string> {
  let saved: string | undefined;
  const save = async (handle: string) => {
    await context.saveHandle(handle);
    saved = handle;
  };
  const handle = await job.submit(save);
  if (handle !== saved) await save(handle);
  return handle;
}
