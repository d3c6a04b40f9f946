import { omitUndefined } from '../platform/records.ts';
import { LoginActionKind, LoginChallengeKind } from './contract/errors.ts';
import type { LoginActionDetails, LoginChallengeDetails } from './contract/errors.ts';
import type { LoginWaiting } from './contract/logins.ts';
import type { ChallengeAnswer } from './contract/shapes.ts';
import type { Answer, ChallengeKind } from './flow/challenge.ts';
import type { PendingChallenge } from './job.ts';
import { LoginError } from './login-error.ts';

/** The kinds of input that a login can wait for. */
export type Waiting = {
  challengeId: string;
  ask: PendingChallenge;
  expiresAt: Date;
  /** answers that the site rejected */
  wrong: number;
  timer: NodeJS.Timeout;
};

const ACTIONS: Record<LoginChallengeKind, LoginActionKind> = {
  otp_email: 'email_code',
  email_verification: 'email_code',
  otp_sms: 'sms_code',
  totp: 'totp',
  magic_link: 'magic_link',
};

function nameAction(kind: ChallengeKind, expects: PendingChallenge['expects']): LoginActionKind {
  if (expects === 'link') return 'magic_link';
  return kind in ACTIONS ? ACTIONS[kind as LoginChallengeKind] : LoginActionKind.parse(kind);
}

/** The single field of an answer. */
export function readAnswer({ code, link, option }: ChallengeAnswer): Answer {
  if (code !== undefined) return { code };
  if (link !== undefined) return { link };
  return option === undefined ? { done: true } : { option };
}

export function describeWaiting({ challengeId, ask, expiresAt }: Waiting, attemptsLeft?: number): LoginWaiting {
  const { kind, expects, hint, options = [] } = ask;
  const choice = options.length > 0 ? ['option' as const] : [];
  const other = expects === 'choice' ? [] : [expects === 'external' ? ('done' as const) : expects];
  return {
    challengeId,
    kind: nameAction(kind, expects),
    hint,
    options: [...options],
    fields: [...other, ...choice],
    ...omitUndefined({ attemptsLeft }),
    expiresAt: expiresAt.toISOString(),
  };
}

/**
 * An answer of the wrong kind, or an option that the page does not offer, does not count as an attempt. Throws
 * `validation_error`.
 */
export function checkAnswer({ expects, options = [] }: PendingChallenge, answer: Answer): void {
  const fail = (message: string) => new LoginError('validation_error', message);
  if ('option' in answer) {
    const isOffered = options.some(({ id, label }) => id === answer.option || label === answer.option);
    if (!isOffered) throw fail('option: must be one of those that the page offers');
  } else if (expects === 'choice') {
    throw fail('option: is required');
  } else if (expects === 'external' && !('done' in answer)) {
    throw fail('done: is required: the page takes no code here');
  } else if (expects !== 'external' && 'done' in answer) {
    throw fail(`${expects}: is required`);
  }
}

/** The response to a call while its login waits. */
export function buildChallengeError({ challengeId, ask, expiresAt: end }: Waiting): LoginError {
  const { kind, hint, mailbox, options, expects } = ask;
  const expiresAt = end.toISOString();
  const code = LoginChallengeKind.safeParse(kind);
  if (code.success && expects !== 'choice' && expects !== 'external') {
    const details = { challengeId, kind: code.data, hint, ...omitUndefined({ mailbox }), expiresAt };
    return new LoginError('verification_required', 'The site asks for a code or a link.', {
      details: details satisfies LoginChallengeDetails,
    });
  }
  const shown = options === undefined ? {} : { options: [...options] };
  const details = { challengeId, kind: nameAction(kind, expects), hint, ...shown, expiresAt };
  return new LoginError('action_required', 'The site requires an action by the caller or a person.', {
    details: details satisfies LoginActionDetails,
  });
}
