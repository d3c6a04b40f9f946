import { LoginError } from './login-error.ts';
import type { MailboxFailure } from './contract/errors.ts';
import type { Challenge, Answer } from './flow/challenge.ts';

/** A challenge for the caller, and why the mailbox did not answer it. */
export type PendingChallenge = Challenge & { mailbox?: MailboxFailure };

/** An event of a job. */
export type JobEvent<T> =
  | { is: 'done'; value: T }
  | { is: 'failed'; error: unknown }
  /** it continues after a challenge */
  | { is: 'resumed' }
  /** paused until the challenge is answered */
  | { is: 'challenge'; ask: PendingChallenge; wrong: boolean };

/** Work that may pause for a challenge and resume, possibly in another request. */
export type Job<T> = {
  /** The next event; each is returned once. */
  next(): Promise<JobEvent<T>>;
  /** The challenge to answer. */
  answer(answer: Answer): void;
  /** Ends the job; its next event is this error. */
  stop(error: unknown): void;
};

export type JobContext = {
  /** aborted at the deadline, and when the job is stopped */
  signal: AbortSignal;
  /**
   * Asks the waiting caller. The time does not count against the deadline. `moved` withdraws the question once the
   * page has continued without an answer.
   */
  ask: (ask: PendingChallenge, wrong: boolean, moved?: Promise<void>) => Promise<Answer>;
  /** until the deadline */
  leftMs: () => number;
};

/** Runs `work` for at most `deadlineMs`, not counting pauses. Fails with `login_timeout` after that. */
export function startJob<T>(deadlineMs: number, work: (context: JobContext) => Promise<T>): Job<T> {
  const abort = new AbortController();
  const events: JobEvent<T>[] = [];
  let listener: ((event: JobEvent<T>) => void) | undefined;
  let answered: ((answer: Answer) => void) | undefined;
  let leftMs = deadlineMs;
  let startedAt = 0;
  let timer: NodeJS.Timeout | undefined;

  const run = () => {
    startedAt = performance.now();
    timer = setTimeout(() => {
      abort.abort(new LoginError('login_timeout', 'The login timed out.', { details: { reason: 'deadline' } }));
    }, leftMs);
  };
  const pause = () => {
    clearTimeout(timer);
    leftMs -= performance.now() - startedAt;
  };
  const emit = (item: JobEvent<T>) => {
    const current = listener;
    listener = undefined;
    if (current === undefined) events.push(item);
    else current(item);
  };
  const ask = async (challenge: PendingChallenge, wrong: boolean, moved?: Promise<void>): Promise<Answer> => {
    abort.signal.throwIfAborted();
    pause();
    const answer = new Promise<Answer>((resolve, reject) => {
      answered = resolve;
      abort.signal.addEventListener('abort', () => reject(abort.signal.reason as Error), { once: true });
      moved?.then(() => resolve({ done: true }), reject);
    });
    emit({ is: 'challenge', ask: challenge, wrong });
    try {
      return await answer;
    } finally {
      run();
      if (!abort.signal.aborted) emit({ is: 'resumed' });
    }
  };

  // The caller gets the error at once, however slowly the browser closes.
  abort.signal.addEventListener('abort', () => emit({ is: 'failed', error: abort.signal.reason }));
  run();
  const getLeftMs = () => leftMs - (performance.now() - startedAt);
  void work({ signal: abort.signal, ask, leftMs: getLeftMs })
    .then(
      (value) => ({ is: 'done' as const, value }),
      (error: unknown) => ({ is: 'failed' as const, error }),
    )
    .then((end) => (abort.signal.aborted ? undefined : emit(end)))
    .finally(() => clearTimeout(timer));
  return {
    next: () =>
      new Promise((resolve) => {
        const item = events.shift();
        if (item === undefined) listener = resolve;
        else resolve(item);
      }),
    answer: (answer) => answered?.(answer),
    stop: (error) => abort.abort(error),
  };
}
