import type { Db } from '../platform/db/db.ts';
import { LoginChallengeKind } from './contract/errors.ts';
import type { LoginChallengeDetails } from './contract/errors.ts';
import { newId } from '../platform/ids.ts';
import { omitUndefined } from '../platform/records.ts';
import { endLoginChallenge, findLoginChallenge, insertLoginChallenge } from './store/challenges.ts';
import { LoginError } from './login-error.ts';
import type { Answer } from './flow/challenge.ts';
import type { Job, JobEvent, PendingChallenge } from './job.ts';

/** The response to a call. */
export type LoginResponse = { status: number; body: unknown; headers?: Record<string, string> };

type HeldChallenge = {
  id: string;
  organizationId: string;
  /** passes an answer to the job and returns the response to it */
  resume(answer: Answer): Promise<LoginResponse>;
  stop(error: unknown): void;
  timer: NodeJS.Timeout;
};

export type Challenges = {
  /**
   * Waits for the job's next event and turns it into a response. A challenge keeps its live page and is thrown as
   * `verification_required`; its answer resumes the job.
   */
  follow<T>(organizationId: string, job: Job<T>, finish: (value: T) => LoginResponse): Promise<LoginResponse>;
  /** Throws `not_found`, `challenge_expired`, `invalid_code`, or the error of the job. */
  answer(organizationId: string, id: string, answer: Answer): Promise<LoginResponse>;
  close(): void;
};

const HOLD_MS = 5 * 60_000;
const MAX_WRONG = 3;

/** An option that the page does not offer costs nothing. */
function checkOption({ expects, options = [] }: PendingChallenge, answer: Answer): void {
  if ('option' in answer) {
    const isOffered = options.some(({ id, label }) => id === answer.option || label === answer.option);
    if (!isOffered) throw new LoginError('validation_error', 'option: must be one of those that the page offers');
  } else if (expects === 'choice') {
    throw new LoginError('validation_error', 'option: is required');
  } else if (expects === 'external' && !('done' in answer)) {
    throw new LoginError('validation_error', 'done: is required: the page takes no code here');
  }
}

/** What a call is answered with while its login waits. */
function buildChallengeError(challengeId: string, ask: PendingChallenge, expiresAt: string): LoginError {
  const { kind, hint, mailbox, options } = ask;
  const code = LoginChallengeKind.safeParse(kind);
  if (code.success && (ask.expects === 'code' || ask.expects === 'link')) {
    const details = { challengeId, kind: code.data, hint, ...omitUndefined({ mailbox }), expiresAt };
    return new LoginError('verification_required', 'The site asks for a code or a link.', {
      details: details satisfies LoginChallengeDetails,
    });
  }
  return new LoginError('action_required', 'The site waits for something that only the caller or a person can do.', {
    details: { challengeId, kind, hint, ...omitUndefined({ options }), expiresAt },
  });
}

const expired = () => new LoginError('challenge_expired', 'The challenge is over: begin the login again.');

/** Open challenges of this process. `holdMs`: how long each waits for its answer; default 5 minutes. */
export function openChallenges(db: Db, owner: string, holdMs = HOLD_MS): Challenges {
  const held = new Map<string, HeldChallenge>();

  const drop = async (item: HeldChallenge) => {
    clearTimeout(item.timer);
    held.delete(item.id);
    await endLoginChallenge(db, item.organizationId, item.id);
  };

  const hold = async <T>(
    organizationId: string,
    job: Job<T>,
    event: JobEvent<T> & { is: 'challenge' },
    finish: (value: T) => LoginResponse,
  ): Promise<LoginError> => {
    const id = newId('chl');
    const expiresAt = new Date(Date.now() + holdMs);
    let wrong = 0;
    let busy = false;
    const item: HeldChallenge = {
      id,
      organizationId,
      stop: (error) => job.stop(error),
      timer: setTimeout(() => {
        job.stop(expired());
        void drop(item).catch(() => undefined);
      }, holdMs).unref(),
      async resume(answer) {
        checkOption(event.ask, answer);
        if (busy) throw new LoginError('conflict', 'Another answer to this challenge is being tried.');
        busy = true;
        job.answer(answer);
        const next = await job.next();
        busy = false;
        if (next.is === 'challenge' && next.wrong) {
          wrong += 1;
          const fault = new LoginError('invalid_code', 'The site refused the code.', {
            details: { challengeId: id, attemptsLeft: MAX_WRONG - wrong },
          });
          if (wrong >= MAX_WRONG) {
            job.stop(fault);
            await drop(item);
          }
          throw fault;
        }
        await drop(item);
        return respond(organizationId, job, next, finish);
      },
    };
    held.set(id, item);
    await insertLoginChallenge(db, { id, organizationId, owner, kind: event.ask.kind, expiresAt });
    return buildChallengeError(id, event.ask, expiresAt.toISOString());
  };

  const respond = async <T>(
    organizationId: string,
    job: Job<T>,
    event: JobEvent<T>,
    finish: (value: T) => LoginResponse,
  ): Promise<LoginResponse> => {
    if (event.is === 'done') return finish(event.value);
    if (event.is === 'failed') throw event.error;
    throw await hold(organizationId, job, event, finish);
  };

  return {
    follow: async (organizationId, job, finish) => respond(organizationId, job, await job.next(), finish),
    async answer(organizationId, id, answer) {
      const item = held.get(id);
      if (item !== undefined && item.organizationId === organizationId) return item.resume(answer);
      const known = await findLoginChallenge(db, organizationId, id);
      if (known === undefined) throw new LoginError('not_found', 'No such challenge.');
      throw expired();
    },
    close() {
      for (const item of held.values()) {
        clearTimeout(item.timer);
        item.stop(new LoginError('capacity', 'The service is going down.'));
      }
      held.clear();
    },
  };
}
