import { setTimeout as sleep } from 'node:timers/promises';
import { createGuardrails, generate } from 'otplib';
import type { LoginCred, LoginMethod } from './contract/shapes.ts';
import type { MailboxFailure } from './contract/errors.ts';
import { LoginError } from './login-error.ts';
import { namesFactor } from './flow/challenge.ts';
import type { AnswerSource, Challenge, Answer } from './flow/challenge.ts';
import type { JobContext } from './job.ts';
import type { Mailbox } from './mailbox/port.ts';

/** A code that expires sooner is not typed. */
const TOO_LATE_MS = 2000;

/** Most sites hand out secrets of 10 bytes, fewer than the library expects of new ones. */
const GUARDRAILS = createGuardrails({ MIN_SECRET_BYTES: 1 });

type Totp = { secret: string; digits: 6 | 7 | 8; period: number; algorithm: 'sha1' | 'sha256' | 'sha512' };

/** The parameters of an authenticator: from base-32 text, spaces and case as people copy it, or an `otpauth://` URI. */
export function readTotp(text: string): Totp {
  const bad = () => new LoginError('validation_error', 'cred.totpSecret: must be base-32 or an otpauth URI');
  const uri = /^otpauth:\/\/totp\//i.test(text) ? URL.parse(text) : undefined;
  if (uri === null) throw bad();
  const get = (name: string) => uri?.searchParams.get(name) ?? undefined;
  const secret = (uri === undefined ? text : (get('secret') ?? '')).replaceAll(/[\s-]/g, '').toUpperCase();
  if (!/^[A-Z2-7]{8,}=*$/.test(secret)) throw bad();
  const digits = Number(get('digits') ?? 6);
  const period = Number(get('period') ?? 30);
  const algorithm = (get('algorithm') ?? 'SHA1').toLowerCase().replace('-', '');
  if (![6, 7, 8].includes(digits) || !(period >= 5 && period <= 300)) throw bad();
  if (!['sha1', 'sha256', 'sha512'].includes(algorithm)) throw bad();
  return {
    secret: secret.replace(/(?<!=)=+$/, ''),
    digits: digits as Totp['digits'],
    period,
    algorithm: algorithm as Totp['algorithm'],
  };
}

/** The current code. Waits for the next one when the current one is about to expire. */
async function makeTotpCode({ secret, digits, period, algorithm }: Totp, signal: AbortSignal): Promise<string> {
  const leftMs = period * 1000 - (Date.now() % (period * 1000));
  if (leftMs < TOO_LATE_MS) await sleep(leftMs + 1, undefined, { signal });
  const epoch = Math.floor(Date.now() / 1000);
  return generate({ secret, digits, period, algorithm, epoch, guardrails: GUARDRAILS });
}

export type AnswerPorts = Pick<JobContext, 'ask' | 'leftMs' | 'signal'> & {
  /** the caller's mailbox; without one the caller is asked */
  mailbox?: Mailbox | undefined;
};

/** Challenges that a mailbox can answer, by the kind of message. */
const CHANNELS: Readonly<Record<string, 'email' | 'sms'>> = {
  otp_email: 'email',
  magic_link: 'email',
  email_verification: 'email',
  otp_sms: 'sms',
};
/** Maximum wait for an email, and the time reserved for the steps after it; both in ms, within the deadline. */
const EMAIL_MS = 60_000;
const RESERVED_MS = 10_000;

/** Codes and links for one login: from the request, else from the mailbox, else from the caller. */
export function buildAnswers(
  { loginMethod, cred }: { loginMethod: LoginMethod; cred: LoginCred },
  { ask, leftMs, signal, mailbox }: AnswerPorts,
): AnswerSource {
  const { totpSecret, totpCode } = cred;
  const totp = totpSecret === undefined ? undefined : readTotp(totpSecret);
  let used = false;
  const getFromMailbox = async (
    challenge: Challenge,
    wrong: boolean,
  ): Promise<Answer | { failure: MailboxFailure } | undefined> => {
    const channel = CHANNELS[challenge.kind];
    if (mailbox === undefined || channel === undefined || !mailbox.channels.includes(channel)) return undefined;
    if (wrong) return { failure: 'wrong' };
    const left = leftMs();
    const expects = challenge.expects === 'link' ? 'link' : 'code';
    return mailbox.find(expects, Math.min(EMAIL_MS, Math.max(left - RESERVED_MS, left / 2)), signal);
  };
  /** The option that the request names, if the page offers it exactly once. */
  const chooseFactor = ({ kind, options = [] }: Challenge): Answer | undefined => {
    if (kind !== 'choose_factor') return undefined;
    const wanted =
      totp !== undefined || totpCode !== undefined
        ? 'totp'
        : loginMethod === 'otp_sms' || (loginMethod === 'otp_email' && mailbox === undefined)
          ? loginMethod
          : mailbox === undefined
            ? undefined
            : 'otp_email';
    if (wanted === undefined) return undefined;
    const [option, ...others] = options.filter(({ label }) => namesFactor(label, wanted));
    return option !== undefined && others.length === 0 ? { option: option.id } : undefined;
  };
  return {
    available: true,
    ready: async () => mailbox?.ready(),
    async get(challenge, wrong, { release, moved }) {
      if (challenge.expects === 'choice' || challenge.expects === 'external') {
        const chosen = wrong ? undefined : chooseFactor(challenge);
        return chosen ?? release(() => ask(challenge, wrong, moved));
      }
      const fits = challenge.kind === 'totp' || loginMethod === 'totp';
      const own = !fits || totp === undefined ? totpCode : await makeTotpCode(totp, signal);
      if (own === undefined || !fits) {
        return release(async () => {
          const found = await getFromMailbox(challenge, wrong);
          if (found === undefined) return ask(challenge, wrong, moved);
          return 'failure' in found ? ask({ ...challenge, mailbox: found.failure }, wrong, moved) : found;
        });
      }
      if (used) throw new LoginError('invalid_code', 'The site refused the code.');
      used = true;
      return { code: own };
    },
  };
}
