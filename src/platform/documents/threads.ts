import { Worker } from 'node:worker_threads';
import { DocumentError } from './error.ts';
import type { DocumentAnswer, DocumentJob, DocumentResults } from './job.ts';
import { MAX_HEAP_MIB, MAX_THREAD_BYTES, PAGE_TIME_LIMIT_MS, TIME_LIMIT_MS } from './limits.ts';

const MAX_THREADS = 2;
/** A thread is replaced after this many documents, which frees memory that its libraries leak. */
const MAX_JOBS = 100;
const LOOK_EVERY_MS = 100;

type Thread = { worker: Worker; jobs: number };

const idle: Thread[] = [];
const waiting: { resolve: () => void }[] = [];
let running = 0;

/** Runs one job in a thread that does nothing else meanwhile; more jobs than threads wait in line. */
export async function runInThread<K extends keyof DocumentResults>(
  job: DocumentJob & { kind: K },
  signal?: AbortSignal,
): Promise<DocumentResults[K]> {
  signal?.throwIfAborted();
  await takePlace(signal);
  const thread = idle.pop() ?? startThread();
  let answer: DocumentAnswer | undefined;
  try {
    answer = await runJob(thread, job, signal);
  } finally {
    thread.worker.unref();
    thread.jobs += 1;
    if (answer !== undefined && thread.jobs < MAX_JOBS) idle.push(thread);
    else void thread.worker.terminate();
    givePlace();
  }
  // A thread answers what its job asks for.
  if (answer.ok) return answer.result as DocumentResults[K];
  throw new DocumentError(answer.code, answer.message);
}

async function takePlace(signal: AbortSignal | undefined): Promise<void> {
  if (running < MAX_THREADS) {
    running += 1;
    return;
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const entry = { resolve };
  const leave = (): void => {
    waiting.splice(waiting.indexOf(entry), 1);
    reject(signal?.reason);
  };
  waiting.push(entry);
  signal?.addEventListener('abort', leave, { once: true });
  await promise.finally(() => signal?.removeEventListener('abort', leave));
}

function givePlace(): void {
  const next = waiting.shift();
  if (next === undefined) running -= 1;
  else next.resolve();
}

function startThread(): Thread {
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    // Libraries that read untrusted documents get no secrets, and their output is discarded.
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  worker.stdout.resume();
  worker.stderr.resume();
  const thread = { worker, jobs: 0 };
  // An error may also come while the thread is stopped; it must not go unheard.
  worker
    .on('error', () => {})
    .on('exit', () => {
      const index = idle.indexOf(thread);
      if (index !== -1) idle.splice(index, 1);
    });
  return thread;
}

/** Settles once. After a rejection the thread is of no more use. */
async function runJob({ worker }: Thread, job: DocumentJob, signal?: AbortSignal): Promise<DocumentAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<DocumentAnswer>();
  const tooLarge = () => new DocumentError('too_large', 'The document needs more memory than it may take.');
  const limitMs = job.kind === 'page' ? PAGE_TIME_LIMIT_MS : TIME_LIMIT_MS;
  const timer = setTimeout(() => {
    reject(new DocumentError('timeout', `The document takes longer to read than ${limitMs / 1000} seconds.`));
  }, limitMs);
  const look = setInterval(() => {
    // The limit of the heap does not count array buffers, which are most of what a PDF unpacks to.
    worker.getHeapStatistics().then(
      ({ external_memory, total_heap_size }) => {
        if (external_memory + total_heap_size > MAX_THREAD_BYTES) reject(tooLarge());
      },
      () => {},
    );
  }, LOOK_EVERY_MS);
  const onError = (error: unknown): void => {
    const isMemory = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    reject(isMemory ? tooLarge() : new DocumentError('broken', 'The document cannot be read.', { cause: error }));
  };
  const onExit = () => reject(new DocumentError('broken', 'The document cannot be read.'));
  const onAbort = () => reject(signal?.reason);
  worker.on('message', resolve).on('error', onError).on('exit', onExit);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  worker.ref();
  worker.postMessage(job);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    clearInterval(look);
    signal?.removeEventListener('abort', onAbort);
    worker.off('message', resolve).off('error', onError).off('exit', onExit);
  }
}
