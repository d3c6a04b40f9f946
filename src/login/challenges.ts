import type { Db } from '../platform/db/db.ts';
import type { LoginChallengeDetails } from './contract/errors.ts';
import { newId } from '../platform/ids.ts';
import { omitUndefined } from '../platform/records.ts';
import { endLoginChallenge, findLoginChallenge, insertLoginChallenge } from './store/challenges.ts';
import { LoginError } from './login-error.ts';
import type { Answer } from './flow/challenge.ts';
import type { Job, JobEvent } from './job.ts';

/** What a call answers in the end. */
export type LoginResponse = { status: number; body: unknown; headers?: Record<string, string> };

type Held = {
  id: string;
  organizationId: string;
  /** takes an answer, and reports what came of it */
  resume(answer: Answer): Promise<LoginResponse>;
  stop(error: unknown): void;
  timer: NodeJS.Timeout;
};

export type Challenges = {
  /**
   * What the job's next news is to a caller. A question is held with the live page behind it and thrown as
   * `verification_required`; whoever answers it goes on where this stopped.
   */
  follow<T>(organizationId: string, job: Job<T>, finish: (value: T) => LoginResponse): Promise<LoginResponse>;
  /** Throws `not_found`, `challenge_expired`, `invalid_code`, or what the job ends with. */
  answer(organizationId: string, id: string, answer: Answer): Promise<LoginResponse>;
  close(): void;
};

const HOLD_MS = 5 * 60_000;
const MAX_WRONG = 3;

const expired = () => new LoginError('challenge_expired', 'The challenge is over: begin the login again.');

/** Questions of this process's browsers. `holdMs`: how long each may wait; default 5 minutes. */
export function openChallenges(db: Db, owner: string, holdMs = HOLD_MS): Challenges {
  const held = new Map<string, Held>();

  const drop = async (item: Held) => {
    clearTimeout(item.timer);
    held.delete(item.id);
    await endLoginChallenge(db, item.organizationId, item.id);
  };

  const hold = async <T>(
    organizationId: string,
    job: Job<T>,
    news: JobEvent<T> & { is: 'asking' },
    finish: (value: T) => LoginResponse,
  ): Promise<LoginError> => {
    const id = newId('chl');
    const expiresAt = new Date(Date.now() + holdMs);
    const details = {
      challengeId: id,
      kind: news.ask.kind,
      hint: news.ask.hint,
      ...omitUndefined({ mailbox: news.ask.mailbox }),
      expiresAt: expiresAt.toISOString(),
    } satisfies LoginChallengeDetails;
    let wrong = 0;
    let busy = false;
    const item: Held = {
      id,
      organizationId,
      stop: (error) => job.stop(error),
      timer: setTimeout(() => {
        job.stop(expired());
        void drop(item).catch(() => undefined);
      }, holdMs).unref(),
      async resume(answer) {
        if (busy) throw new LoginError('conflict', 'Another answer to this challenge is being tried.');
        busy = true;
        job.answer(answer);
        const next = await job.next();
        busy = false;
        if (next.is === 'asking' && next.wrong) {
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
        return tell(organizationId, job, next, finish);
      },
    };
    held.set(id, item);
    await insertLoginChallenge(db, { id, organizationId, owner, kind: news.ask.kind, expiresAt });
    return new LoginError('verification_required', 'The site asks for a code or a link.', { details });
  };

  const tell = async <T>(
    organizationId: string,
    job: Job<T>,
    news: JobEvent<T>,
    finish: (value: T) => LoginResponse,
  ): Promise<LoginResponse> => {
    if (news.is === 'done') return finish(news.value);
    if (news.is === 'failed') throw news.error;
    throw await hold(organizationId, job, news, finish);
  };

  return {
    follow: async (organizationId, job, finish) => tell(organizationId, job, await job.next(), finish),
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
