// Tests: test/login/logins.test.ts, test/login/steps.test.ts
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../platform/db/db.ts';
import { errorText } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import { publicLoginCode } from './contract/errors.ts';
import type { LoginRecord, LoginState, LoginWaiting } from './contract/logins.ts';
import { toLoginError } from './errors.ts';
import type { Answer } from './flow/challenge.ts';
import type { Job, JobEvent } from './job.ts';
import { LoginError } from './login-error.ts';
import type { Recorder } from './recorder.ts';
import { endLoginChallenge, findLoginChallenge, insertLoginChallenge } from './store/challenges.ts';
import { insertLogin, updateLogin } from './store/logins.ts';
import type { LoginChange } from './store/logins.ts';
import { hintUsername } from './username-hint.ts';
import { buildChallengeError, checkAnswer, describeWaiting } from './waiting.ts';
import type { Waiting } from './waiting.ts';

/** The response to a call. */
export type LoginResponse = { status: number; body: unknown; headers?: Record<string, string> };

/** The subject of a login, for its record. */
export type LoginAbout = {
  id: string;
  organizationId: string;
  operation: LoginRecord['operation'];
  origin: string;
  username: string | undefined;
  method: string;
  /** of its session in the cache; null until it is known */
  sessionKey: string | null;
  recorder: Recorder;
};

/** A login of this process. */
export type LiveLogin = LoginAbout & {
  state: LoginState;
  /** number of state changes so far */
  version: number;
  waiting: Waiting | undefined;
  outcome: { response: LoginResponse } | { error: LoginError } | undefined;
  job: Pick<Job<unknown>, 'answer' | 'stop'> | undefined;
  /** called at every change */
  listeners: Set<() => void>;
};

const HOLD_MS = 5 * 60_000;
const MAX_WRONG = 3;
const POLL_MS = 20;

const expired = (reason?: string) =>
  new LoginError('challenge_expired', 'The challenge is over: begin the login again.', {
    ...(reason !== undefined && { details: { reason } }),
  });

const hasEnded = ({ state }: LiveLogin) => state === 'succeeded' || state === 'failed';

/** The error of a login as its record shows it. */
export function showLoginError({ code, message, details }: LoginError): NonNullable<LoginRecord['error']> {
  return { error: publicLoginCode(code), message, ...(details !== undefined && { details }) };
}

type Ports = { db: Db; log: Logger };

/** The logins of this process, with their challenges and outcomes. `holdMs`: how long a login waits for an answer. */
export class Logins {
  readonly #ports: Ports;
  readonly #holdMs: number;
  readonly #live = new Map<string, LiveLogin>();
  readonly #byChallenge = new Map<string, LiveLogin>();
  /** identifies this process in the database */
  readonly owner = newId('wrk');

  constructor(ports: Ports, holdMs = HOLD_MS) {
    this.#ports = ports;
    this.#holdMs = holdMs;
  }

  find(organizationId: string, id: string): LiveLogin | undefined {
    const live = this.#live.get(id);
    return live?.organizationId === organizationId ? live : undefined;
  }

  /** Records a new login. */
  async begin(about: LoginAbout): Promise<LiveLogin> {
    const { id, organizationId, operation, origin, method, sessionKey, username } = about;
    const usernameHint = hintUsername(username);
    await insertLogin(this.#ports.db, {
      id,
      organizationId,
      operation,
      origin,
      usernameHint,
      method,
      sessionKey,
      owner: this.owner,
    });
    const live: LiveLogin = {
      ...about,
      state: 'running',
      version: 0,
      waiting: undefined,
      outcome: undefined,
      job: undefined,
      listeners: new Set(),
    };
    this.#live.set(id, live);
    return live;
  }

  /** Waits until the job ends or asks, and responds accordingly. A challenge is thrown, and stays open meanwhile. */
  async follow<T>(live: LiveLogin, job: Job<T>, finish: (value: T) => LoginResponse): Promise<LoginResponse> {
    live.job = job;
    void this.#pump(live, job, finish);
    return this.#settle(live, -1);
  }

  /** Ends a login that needed no job, or got none. */
  end(live: LiveLogin, outcome: { response: LoginResponse } | { error: unknown }): Promise<void> {
    return this.#end(live, outcome);
  }

  /** Throws `not_found`, `challenge_expired`, `invalid_code`, or the error of the job. */
  async answer(organizationId: string, challengeId: string, answer: Answer): Promise<LoginResponse> {
    const live = this.#byChallenge.get(challengeId);
    if (live === undefined || live.organizationId !== organizationId) {
      const known = await findLoginChallenge(this.#ports.db, organizationId, challengeId);
      throw known === undefined ? new LoginError('not_found', 'No such challenge.') : expired();
    }
    if (hasEnded(live)) return this.#respond(live);
    const { version } = live;
    this.#give(live, answer);
    return this.#settle(live, version);
  }

  /** Sends an answer to a login without waiting for the result. Throws `conflict` unless the login waits for one. */
  input(live: LiveLogin, answer: Answer): void {
    if (hasEnded(live)) throw expired();
    this.#give(live, answer);
  }

  /** Ends a login of this process. */
  cancel(live: LiveLogin): void {
    live.job?.stop(
      new LoginError('challenge_expired', 'The login was cancelled.', { details: { reason: 'cancelled' } }),
    );
  }

  /** Resolves when no login is at work. One that waits for a person is not: the answer may never come. */
  async whenIdle(): Promise<void> {
    while ([...this.#live.values()].some(({ state }) => state === 'running')) await sleep(POLL_MS);
  }

  close(): void {
    for (const live of this.#live.values()) {
      clearTimeout(live.waiting?.timer);
      live.job?.stop(new LoginError('capacity', 'The service is shutting down.'));
    }
    this.#byChallenge.clear();
  }

  /** Resolves at the next change of a login. */
  changed(live: LiveLogin, since: number, signal: AbortSignal): Promise<void> {
    if (live.version > since || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        live.listeners.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      live.listeners.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  #give(live: LiveLogin, answer: Answer): void {
    const { waiting } = live;
    if (waiting !== undefined) checkAnswer(waiting.ask, answer);
    if (live.state === 'running') {
      // A login that waits for another device may have continued a moment ago.
      if (waiting?.ask.expects === 'external') return;
      throw new LoginError('conflict', 'Another answer to this challenge is being tried.');
    }
    live.job?.answer(answer);
  }

  async #settle(live: LiveLogin, since: number): Promise<LoginResponse> {
    for (let seen = since; live.version <= since || live.state === 'running'; seen = live.version) {
      await this.changed(live, seen, new AbortController().signal);
    }
    return this.#respond(live);
  }

  #respond(live: LiveLogin): LoginResponse {
    const { outcome, waiting } = live;
    if (outcome !== undefined && 'response' in outcome) {
      const { response } = outcome;
      return { ...response, headers: { ...response.headers, 'x-login-id': live.id } };
    }
    const error = outcome?.error ?? this.#buildWaitingError(waiting);
    throw error.of(live.id);
  }

  #buildWaitingError(waiting: Waiting | undefined): LoginError {
    if (waiting === undefined) return expired();
    if (waiting.wrong === 0) return buildChallengeError(waiting);
    return new LoginError('invalid_code', 'The site refused the code.', {
      details: { challengeId: waiting.challengeId, attemptsLeft: MAX_WRONG - waiting.wrong },
    });
  }

  async #pump<T>(live: LiveLogin, job: Job<T>, finish: (value: T) => LoginResponse): Promise<void> {
    for (;;) {
      const event = await job.next();
      try {
        if (event.is === 'done') return await this.#end(live, { response: finish(event.value) });
        if (event.is === 'failed') return await this.#end(live, { error: event.error });
        if (event.is === 'resumed') await this.#change(live, { state: 'running', action: null });
        else await this.#ask(live, job, event);
      } catch (error) {
        job.stop(error);
        return this.#end(live, { error });
      }
    }
  }

  async #ask<T>(live: LiveLogin, job: Job<T>, { ask, wrong }: JobEvent<T> & { is: 'challenge' }): Promise<void> {
    const { waiting } = live;
    if (wrong && waiting !== undefined) {
      waiting.wrong += 1;
      if (waiting.wrong < MAX_WRONG) return this.#wait(live, waiting);
      const details = { challengeId: waiting.challengeId, attemptsLeft: 0 };
      return job.stop(new LoginError('invalid_code', 'The site refused the code.', { details }));
    }
    await this.#drop(live);
    const challengeId = newId('chl');
    const expiresAt = new Date(Date.now() + this.#holdMs);
    const timer = setTimeout(() => {
      this.#byChallenge.delete(challengeId);
      if (!hasEnded(live)) job.stop(expired());
    }, this.#holdMs).unref();
    live.waiting = { challengeId, ask, expiresAt, wrong: 0, timer };
    this.#byChallenge.set(challengeId, live);
    const { organizationId } = live;
    const owner = this.owner;
    await insertLoginChallenge(this.#ports.db, { id: challengeId, organizationId, owner, kind: ask.kind, expiresAt });
    await this.#wait(live, live.waiting);
  }

  #wait(live: LiveLogin, waiting: Waiting): Promise<void> {
    const state = waiting.ask.expects === 'external' ? 'awaiting_external_action' : 'awaiting_input';
    const attemptsLeft = waiting.wrong === 0 ? undefined : MAX_WRONG - waiting.wrong;
    return this.#change(live, { state, action: describeWaiting(waiting, attemptsLeft) });
  }

  /** The challenge is over. Its row stays for a while, so that a late answer gets `challenge_expired`. */
  async #drop(live: LiveLogin): Promise<void> {
    const { waiting } = live;
    if (waiting === undefined) return;
    clearTimeout(waiting.timer);
    this.#byChallenge.delete(waiting.challengeId);
    await endLoginChallenge(this.#ports.db, live.organizationId, waiting.challengeId);
  }

  async #end(live: LiveLogin, outcome: { response: LoginResponse } | { error: unknown }): Promise<void> {
    if (hasEnded(live)) return;
    const { recorder, waiting } = live;
    const isExternal = waiting?.ask.expects === 'external' && 'response' in outcome;
    // Returns the outcome to late questions about a completed approval, until the challenge would have expired.
    if (!isExternal) await this.#drop(live).catch(() => undefined);
    const trace = recorder.entries;
    if ('response' in outcome) {
      live.outcome = outcome;
      const { credentialId } = outcome.response.body as { credentialId?: string };
      const cache = (outcome.response.headers?.['x-session-cache'] ?? null) as LoginRecord['cache'];
      await this.#change(live, { state: 'succeeded', action: null, cache, trace, credentialId: credentialId ?? null });
    } else {
      const error = toLoginError(outcome.error, 0);
      live.outcome = { error };
      await this.#change(live, { state: 'failed', action: null, error: showLoginError(error), trace });
    }
    this.#live.delete(live.id);
  }

  async #change(live: LiveLogin, change: LoginChange & { action: LoginWaiting | null }): Promise<void> {
    try {
      await updateLogin(this.#ports.db, live.organizationId, live.id, change);
    } catch (error) {
      // The login itself continues; only its record is incomplete.
      this.#ports.log.warn({ loginId: live.id, error: errorText(error) }, 'could not record the state of a login');
    }
    live.state = change.state;
    live.version += 1;
    for (const listener of live.listeners) listener();
  }
}
