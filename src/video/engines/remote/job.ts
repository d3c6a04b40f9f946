import { setTimeout as delay } from 'node:timers/promises';
import { RenderError } from '../engine.ts';
import type { RenderContext } from '../engine.ts';

export type JobStatus<T> =
  | { state: 'waiting'; progress?: number }
  | { state: 'done'; result: T }
  | { state: 'failed'; error: RenderError }
  /** the engine does not know the job */
  | { state: 'unknown' };

/** What the adapters differ in. */
export type RemoteJob<T> = {
  /**
   * Starts the job and returns its handle. `save` makes a handle durable that is known before the job starts. It gets no
   * signal: a job whose start is cut off in the middle has no name, so nobody could attend to it or cancel it.
   */
  submit(save: (handle: string) => Promise<void>): Promise<string>;
  look(handle: string, signal: AbortSignal): Promise<JobStatus<T>>;
  cancel(handle: string): Promise<void>;
};

export type JobOptions = { pollMs: number; deadlineMs: number };

/** Engines that spread over machines may need a moment until all of them know a new job. */
const MAX_UNKNOWN_POLLS = 3;

/**
 * Starts a job, or attaches to the one that an earlier attempt has started, and looks after it until it ends. A job that
 * takes longer than the deadline is cancelled. Throws a `RenderError`, or the signal's reason, which leaves the job alone.
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
