import { LoginError } from './login-error.ts';
import type { MailboxFailure } from './contract/errors.ts';
import type { Challenge, Answer } from './flow/challenge.ts';

/** A question to the caller, and why nothing else has answered it. */
export type PendingChallenge = Challenge & { mailbox?: MailboxFailure };

/** What a job has to say next. */
export type JobEvent<T> =
  | { is: 'done'; value: T }
  | { is: 'failed'; error: unknown }
  /** it stands still until somebody answers */
  | { is: 'asking'; ask: PendingChallenge; wrong: boolean };

/** Work that may have to ask its caller something and go on, maybe in another request. */
export type Job<T> = {
  /** The next news, once each. */
  next(): Promise<JobEvent<T>>;
  /** The challenge to answer. */
  answer(answer: Answer): void;
  /** Ends it; its next news is this error. */
  stop(error: unknown): void;
};

export type JobContext = {
  /** aborted at the deadline, and when the job is stopped */
  signal: AbortSignal;
  /** Asks whoever waits for the job. The deadline stands still meanwhile. */
  ask: (ask: PendingChallenge, wrong: boolean) => Promise<Answer>;
  /** until the deadline */
  leftMs: () => number;
};

/** Runs `work` at most `deadlineMs`, the time for answers left out. Past it the error is `login_timeout`. */
export function startJob<T>(deadlineMs: number, work: (context: JobContext) => Promise<T>): Job<T> {
  const abort = new AbortController();
  const news: JobEvent<T>[] = [];
  let heard: ((news: JobEvent<T>) => void) | undefined;
  let answered: ((answer: Answer) => void) | undefined;
  let leftMs = deadlineMs;
  let startedAt = 0;
  let timer: NodeJS.Timeout | undefined;

  const run = () => {
    startedAt = performance.now();
    timer = setTimeout(() => {
      abort.abort(new LoginError('login_timeout', 'The login took too long.', { details: { reason: 'deadline' } }));
    }, leftMs);
  };
  const pause = () => {
    clearTimeout(timer);
    leftMs -= performance.now() - startedAt;
  };
  const tell = (item: JobEvent<T>) => {
    const listener = heard;
    heard = undefined;
    if (listener === undefined) news.push(item);
    else listener(item);
  };
  const ask = async (challenge: PendingChallenge, wrong: boolean): Promise<Answer> => {
    abort.signal.throwIfAborted();
    pause();
    const answer = new Promise<Answer>((resolve, reject) => {
      answered = resolve;
      abort.signal.addEventListener('abort', () => reject(abort.signal.reason as Error), { once: true });
    });
    tell({ is: 'asking', ask: challenge, wrong });
    try {
      return await answer;
    } finally {
      run();
    }
  };

  // Whoever waits is told at once, however long the browser takes to be gone.
  abort.signal.addEventListener('abort', () => tell({ is: 'failed', error: abort.signal.reason }));
  run();
  const getLeftMs = () => leftMs - (performance.now() - startedAt);
  void work({ signal: abort.signal, ask, leftMs: getLeftMs })
    .then(
      (value) => ({ is: 'done' as const, value }),
      (error: unknown) => ({ is: 'failed' as const, error }),
    )
    .then((end) => (abort.signal.aborted ? undefined : tell(end)))
    .finally(() => clearTimeout(timer));
  return {
    next: () =>
      new Promise((resolve) => {
        const item = news.shift();
        if (item === undefined) heard = resolve;
        else resolve(item);
      }),
    answer: (answer) => answered?.(answer),
    stop: (error) => abort.abort(error),
  };
}
