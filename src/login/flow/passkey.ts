// Tests: test/login/passkeys.test.ts
import { setTimeout as sleep } from 'node:timers/promises';
import type { Authenticator } from '../browser/passkeys.ts';
import type { Interstitial } from '../detection/interstitials.ts';
import { normalizeText } from '../detection/match.ts';
import { saysPasskey } from '../detection/other-methods.ts';
import { LoginError } from '../login-error.ts';
import type { AvailableMethods, Progress } from './decide.ts';
import type { PageSnapshot } from './evidence.ts';
import type { ObservedPage } from './page-observer.ts';
import { ignoreStale, press } from './page-actions.ts';
import { pressOption } from './options.ts';
import type { SubmittedStep } from './outcome.ts';
import { chooseMethod } from './ports.ts';
import type { FlowState } from './state.ts';
import type { FlowInput, FlowPorts } from './ports.ts';

/** ms that a page gets to create a passkey */
const ENROLMENT_MS = 8000;
const LOOK_EVERY_MS = 50;

export function readAvailable(input: FlowInput, { answers, authenticator }: FlowPorts): AvailableMethods {
  return {
    username: input.username !== undefined,
    password: input.password !== undefined,
    code: answers.available,
    passkey: authenticator?.hasPasskeys === true,
    enrolment: authenticator?.mayEnrol === true,
    method: chooseMethod(input),
  };
}

/** The step of a form that is filled in: after the user name alone a page may ask for the passkey, and sign in. */
export function describeFilled(withPassword: boolean, { password, passkey }: AvailableMethods): SubmittedStep {
  if (withPassword) return 'password';
  return passkey === true && !password ? 'passkey' : 'username';
}

/** What to do with a passkey on a page: press a button or an option, or, without either, load the page again. */
export type PasskeyAction = { use: 'sign' | 'enrol'; press?: string | undefined; option?: number };

type Asking = { found: Interstitial; available: AvailableMethods; progress: Progress };

/**
 * How a passkey passes an interstitial page, if the account has one that was not tried yet, or may get one. Throws if
 * the site did not accept it.
 */
export function passByPasskey(
  { authenticator }: Pick<FlowPorts, 'authenticator'>,
  { signals }: PageSnapshot,
  { found, available, progress }: Asking,
): PasskeyAction | undefined {
  const wasRefused = found.kind === 'security_key' && progress.passkeySent === true;
  if (wasRefused && authenticator !== undefined) throw buildPasskeyError(authenticator);
  if (found.enrol !== undefined && available.enrolment === true && progress.enrolmentSent !== true) {
    return { use: 'enrol', press: found.enrol };
  }
  if (available.passkey !== true || progress.passkeySent === true) return undefined;
  const option = found.options.findIndex(({ label }) => saysPasskey(normalizeText(label)));
  if (found.kind === 'choose_factor' && option >= 0) return { use: 'sign', option };
  if (found.kind !== 'security_key') return undefined;
  const id = signals.otherWays.passkeyButton ?? found.options[Math.max(option, 0)]?.id;
  return { use: 'sign', ...(id !== undefined && { press: id }) };
}

/** Uses the passkey, or has one created. */
export async function actWithPasskey(
  { authenticator, signal }: Pick<FlowPorts, 'authenticator' | 'signal'>,
  { page, interstitial: found }: ObservedPage,
  action: PasskeyAction,
): Promise<void> {
  const wasConfirming = authenticator?.isConfirming === true;
  await authenticator?.confirm();
  if (action.press !== undefined) await press(page, action.press).catch(ignoreStale);
  else if (action.option !== undefined && found !== undefined) await pressOption(page, found, action.option);
  // Its request has begun before anybody would confirm it.
  else if (!wasConfirming) await page.reload({ waitUntil: 'commit' });
  if (action.use === 'sign') return;
  const end = performance.now() + ENROLMENT_MS;
  for (;;) {
    if (authenticator === undefined || authenticator.enrolled > 0 || performance.now() > end) return;
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}

/** Outcomes that say nothing about the passkey itself. */
const VAGUE: ReadonlySet<string> = new Set([
  'invalid_credentials',
  'login_form_not_found',
  'login_timeout',
  'login_unproven',
]);

/** The failure of a login whose last step used a passkey. */
export function describePasskeyFailure(
  error: LoginError,
  { submitted }: FlowState,
  { authenticator }: Pick<FlowPorts, 'authenticator'>,
): LoginError {
  const isVague = VAGUE.has(error.code);
  if (submitted?.step !== 'passkey' || authenticator === undefined || !isVague) return error;
  return buildPasskeyError(authenticator, error);
}

/** The site accepts no stored passkey. */
function buildPasskeyError({ signatures }: Pick<Authenticator, 'signatures'>, cause?: unknown): LoginError {
  if (signatures > 0) {
    return new LoginError('invalid_credentials', 'The site refused the passkey.', {
      details: { reason: 'passkey_refused' },
      cause,
    });
  }
  return new LoginError('passkey_required', 'The site asks for a passkey that is not stored.', {
    details: { reason: 'passkey_unknown' },
    cause,
  });
}
