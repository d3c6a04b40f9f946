import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { HelpScope } from '../contract/shapes.ts';
import type { LoginErrorCode } from '../contract/errors.ts';
import type { LoginError } from '../login-error.ts';
import { EMAIL_LINK } from './challenge.ts';
import type { Answer, Challenge, PageAnswers } from './challenge.ts';
import { buildUnprovenError } from './errors.ts';
import type { ObservedPage, PageObserver } from './page-observer.ts';
import { describePage } from './state.ts';
import type { Traffic } from './traffic.ts';

/** Failures that a person at the live page may resolve. */
const HELPABLE: ReadonlySet<LoginErrorCode> = new Set([
  'captcha_required',
  'login_form_not_found',
  'ambiguous_form',
  'passkey_required',
  'sso_required',
  'enrolment_required',
  'password_change_required',
  'login_unproven',
]);
const LOOK_EVERY_MS = 400;
const CODE_EVERY_MS = 1000;
/** Fields in which common vendors store the proof of a passed check. */
const PROOFS = ['g-recaptcha-response', 'h-captcha-response', 'cf-turnstile-response', 'frc-captcha-response']
  .map((name) => `[name="${name}"]`)
  .join();

/** The result. `moved`: the page shows something else. `done`: a check was passed on the unchanged page. */
export type Helped = 'moved' | 'done';

type Ports = { answers: PageAnswers; observer: PageObserver; signal: AbortSignal };
type HelpPorts = Ports & { traffic: Pick<Traffic, 'startRecording'> };

/** Maximum number of requests to a person in one login. */
const MAX_ASKED = 8;

/** What people have done at the live page of one login. */
export class PersonalHelp {
  readonly #ports: HelpPorts;
  readonly #scope: HelpScope | undefined;
  #asked = 0;
  /** the document on which a person has passed the check */
  #cleared: string | undefined;

  constructor(ports: HelpPorts, scope: HelpScope | undefined) {
    this.#ports = ports;
    this.#scope = scope;
  }

  /** Hands the live page to a person instead of failing. Throws the failure if help is not allowed or used up. */
  async ask(observed: ObservedPage, failure: LoginError): Promise<Helped> {
    if (!mayHelp(this.#scope, failure) || (this.#asked += 1) > MAX_ASKED) throw failure;
    this.#ports.traffic.startRecording([]);
    const helped = await askPerson(this.#ports, observed, failure);
    if (helped === 'done' && observed.plan.captcha) this.#cleared = observed.document;
    return helped;
  }

  /** The page without a check that a person has already passed. */
  apply(observed: ObservedPage): ObservedPage {
    if (observed.document !== this.#cleared) return observed;
    return { ...observed, plan: { ...observed.plan, captcha: false } };
  }
}

function mayHelp(help: HelpScope = 'none', { code }: LoginError): boolean {
  if (help === 'none') return false;
  return help === 'captcha' ? code === 'captcha_required' : HELPABLE.has(code);
}

function hasPassedCheck(page: Page): Promise<boolean> {
  type Field = { value?: string };
  return page
    .locator(PROOFS)
    .evaluateAll((fields) => (fields as Field[]).some(({ value = '' }) => value !== ''))
    .catch(() => false);
}

/** The result of one observation; undefined: unchanged. */
type CheckPage = (current: ObservedPage) => Promise<Helped | undefined>;

/** Observes the page until it changes. Throws the signal's reason. */
async function watch({ observer }: Ports, { checkPage, everyMs }: Watching, signal: AbortSignal): Promise<Helped> {
  for (;;) {
    await sleep(everyMs, undefined, { signal });
    const found = await checkPage(await observer.observe(signal));
    if (found !== undefined) return found;
  }
}

type Watching = { checkPage: CheckPage; everyMs: number };

/** Runs `ask` while a page is watched. `moved` resolves once the page has changed. */
async function whileWatching<T>(
  ports: Ports,
  watching: Watching,
  ask: (moved: Promise<void>) => Promise<T>,
): Promise<{ answer: T; helped: Helped | undefined }> {
  const stop = new AbortController();
  let helped: Helped | undefined;
  const watched = watch(ports, watching, AbortSignal.any([ports.signal, stop.signal])).then((how) => {
    helped = how;
  });
  // Rejects when it is stopped, or with the login itself.
  watched.catch(() => undefined);
  try {
    const answer = await ask(watched);
    ports.signal.throwIfAborted();
    return { answer, helped };
  } finally {
    stop.abort();
  }
}

function describeShown(page: ObservedPage): string {
  const { logout, account } = page.signals;
  return `${describePage(page)} ${logout !== undefined} ${account !== undefined}`;
}

/** Waits until a person acts at the live page or reports that it is done. */
async function askPerson(ports: Ports, observed: ObservedPage, { code }: LoginError): Promise<Helped> {
  const kind = code === 'captcha_required' ? 'captcha' : 'human';
  const challenge: Challenge = { kind, hint: null, expects: 'external' };
  const shown = describeShown(observed);
  const checkPage: CheckPage = async (current) => {
    if (describeShown(current) !== shown) return 'moved';
    return observed.plan.captcha && (await hasPassedCheck(current.page)) ? 'done' : undefined;
  };
  const watching = { checkPage, everyMs: LOOK_EVERY_MS };
  const { helped } = await whileWatching(ports, watching, (moved) => ports.answers.get(challenge, false, moved));
  return helped ?? 'done';
}

/** Waits for a code, or for a person who enters it at the live page; then the answer is `done`. */
export async function askForCode(ports: Ports, challenge: Challenge, wrong: boolean): Promise<Answer> {
  let gone = 0;
  const checkPage: CheckPage = async ({ plan }) => {
    gone = plan.kind === 'one-time-code' ? 0 : gone + 1;
    // One observation may fall between two pages.
    return gone > 1 ? 'moved' : undefined;
  };
  const watching = { checkPage, everyMs: CODE_EVERY_MS };
  const { answer } = await whileWatching(ports, watching, (moved) => ports.answers.get(challenge, wrong, moved));
  return answer;
}

/** Asks for the link that proves a new account. Throws `signup_rejected` without one. */
export async function askForEmailLink({ answers }: Pick<Ports, 'answers'>, wrong: boolean): Promise<string> {
  const answer = await answers.get(EMAIL_LINK, wrong);
  if (!('link' in answer)) throw buildUnprovenError();
  return answer.link;
}
