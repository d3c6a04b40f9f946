import { promptsSignIn } from './sign-in-prompt.ts';
import { findOtherMethods } from './other-methods.ts';
import { decideCaption, says } from './captions.ts';
import type { ElementDescription, FrameDescription, Observation } from './description.ts';
import { buildMatcher, normalizeText } from './match.ts';
import type { FailureCause, OutcomeSignals } from './login-plan.ts';
import { ACCOUNT } from './words/more-actions.ts';
import { USERNAME } from './words/fields.ts';
import { CAPTCHA } from './words/more-fields.ts';
import { LIMITED, LOCKED, UNDER_WAY, WRONG } from './words/outcomes.ts';
import { SUSPENDED } from './words/more-interstitials.ts';
import { EXISTS, EXPIRED, REQUIRED, UNVERIFIED, WEAK } from './words/more-outcomes.ts';
import { isUsable } from './sections.ts';

const reports = {
  wrong: buildMatcher(WRONG),
  locked: buildMatcher(LOCKED),
  suspended: buildMatcher(SUSPENDED),
  limited: buildMatcher(LIMITED),
  captcha: buildMatcher(CAPTCHA),
  expired: buildMatcher(EXPIRED),
  exists: buildMatcher(EXISTS),
  weak: buildMatcher(WEAK),
  required: buildMatcher(REQUIRED),
  unverified: buildMatcher(UNVERIFIED),
  underWay: buildMatcher(UNDER_WAY),
  account: buildMatcher(ACCOUNT),
  username: buildMatcher(USERNAME),
};

/** The most specific first: a message may name a locked account together with a wrong password. */
const RANK: readonly FailureCause[] = [
  'suspended',
  'locked',
  'rate-limited',
  'unverified',
  'captcha',
  'wrong-code',
  'wrong-credentials',
  'account-exists',
  'password-rejected',
  'expired',
  'field-rejected',
  'error',
];

/** "Your account will be locked after two more attempts" has not happened yet. */
const THREAT =
  /(?<!\p{L})(?:will|before (?:your|the|this) account|bevor|wird|werden|sera|sara|verra|zal|wordt|kommer|bude|zostanie|будет|буде|edilecek|if you)(?!\p{L})|attempts? (?:left|remain)/u;

/**
 * The failure that a message of a page or a script's dialog reports. Undefined if it reports none of the causes. The
 * words of a hint ("at least 8 characters") match too, so pass only messages.
 */
export function readMessageCause(message: string): FailureCause | undefined {
  const text = normalizeText(message);
  if (text === '') return undefined;
  const isThreat = THREAT.test(text);
  if (reports.suspended(text) && !isThreat) return 'suspended';
  // If attempts are limited too, this comes first: a caller that only waits would prolong the lock.
  if (reports.locked(text) && !isThreat) return 'locked';
  if (reports.limited(text)) return 'rate-limited';
  if (reports.unverified(text)) return 'unverified';
  if (reports.exists(text)) return 'account-exists';
  const isWrong = reports.wrong(text);
  const isExpired = reports.expired(text);
  if (reports.captcha(text)) return 'captcha';
  if (says.code(text) && (isWrong || isExpired)) return 'wrong-code';
  if (reports.weak(text)) return 'password-rejected';
  if (isExpired) return 'expired';
  if (isWrong) return 'wrong-credentials';
  return reports.required(text) ? 'field-rejected' : undefined;
}

const LOUD = /error|alert|danger|invalid|fail|warn|incorrect/i;
const QUIET = /success|alert-info|cookie|consent|banner/i;

/** Whether an element is styled or marked up as an error, whatever its words. */
function isLoud({ role, className, htmlId }: ElementDescription): boolean {
  return role === 'alert' || LOUD.test(`${className} ${htmlId}`);
}

function readFailure(element: ElementDescription): FailureCause | undefined {
  if (QUIET.test(`${element.className} ${element.htmlId}`)) return undefined;
  if (element.landmark === 'footer' && !isLoud(element)) return undefined;
  const cause = readMessageCause(element.text);
  if (cause !== undefined) return cause;
  const text = normalizeText(element.text);
  return isLoud(element) && text.length > 3 && !reports.underWay(text) ? 'error' : undefined;
}

function isSeen(element: ElementDescription): boolean {
  return (element.unseen === undefined || element.unseen === 'covered') && element.text !== '';
}

function isClickable(element: ElementDescription): boolean {
  return element.control === 'link' || element.control === 'button';
}

const ACCOUNT_MARKS =
  /(?:^|[-_\s])(?:avatar|user-?menu|account-?menu|profile-?menu|user-?nav|current-?user|logged-?in)(?:$|[-_\s])/i;
const LOGOUT_PATH =
  /(?:^|[/_-])(?:log[-_]?out|sign[-_]?out|log[-_]?off|sign[-_]?off|abmelden|deconnexion)(?:$|[/_.?-])/i;

/** A logout control counts even in a closed menu: only a signed-in user gets one. */
function findLogout(elements: readonly ElementDescription[]): ElementDescription | undefined {
  const found = elements.filter((element) => {
    if (!isClickable(element)) return false;
    if (LOGOUT_PATH.test(element.path)) return true;
    const text = normalizeText(element.text || element.ariaLabel || element.title);
    return text.length <= 40 && says.logout(text) && !says.signIn(text);
  });
  return found.find(isSeen) ?? found[0];
}

function findAccount(elements: readonly ElementDescription[]): ElementDescription | undefined {
  return elements.filter(isClickable).find((element) => {
    if (element.unseen !== undefined && element.unseen !== 'covered') return false;
    const text = normalizeText(element.text || element.ariaLabel || element.title);
    if (decideCaption(element) === 'sign-in' || says.register(text) || says.forgot(text)) return false;
    return (
      (text.length <= 40 && reports.account(text)) ||
      ACCOUNT_MARKS.test(`${element.className} ${element.htmlId} ${element.marks}`)
    );
  });
}

function findMessageSentNotice(frames: readonly FrameDescription[]): 'code' | 'link' | undefined {
  const text = frames.map((frame) => normalizeText(frame.text)).join(' ');
  if (!says.sent(text)) return undefined;
  const asksCode = frames.some(({ elements }) =>
    elements.some((element) => element.control === 'field' && isUsable(element) && element.type !== 'email'),
  );
  if (asksCode) return 'code';
  return says.link(text) ? 'link' : says.code(text) ? 'code' : 'link';
}

const ASKING = new Set(['field', 'select', 'checkbox', 'radio']);

function findConfirm({ elements }: FrameDescription): readonly ElementDescription[] {
  const usable = elements.filter(isUsable);
  return usable.filter((element) => {
    if (element.control !== 'button' || element.form === undefined) return false;
    const caption = decideCaption(element);
    if (caption !== 'next' && caption !== 'sign-in') return false;
    return !usable.some(({ control, form }) => form === element.form && ASKING.has(control));
  });
}

const OF_ACCOUNT =
  /account|credential|identi|authen|anmeld|zugang|accès|acces|user|konto|compte|cuenta|conta|счет|аккаунт|учетн|запис|hesap|账|帳|アカウント|계정/u;

/** Beside a logout control, warnings concern the application. Only a locked account is a failed login. */
function isAboutAccount({ text }: ElementDescription, cause: FailureCause): boolean {
  return (cause === 'locked' || cause === 'suspended') && OF_ACCOUNT.test(normalizeText(text));
}

/** A page with more text is an article or an application, whatever words it has. */
const MAX_STATED = 800;
const STATED: ReadonlySet<FailureCause> = new Set(['suspended', 'locked', 'rate-limited', 'wrong-credentials']);

/** A page with less text says one thing. */
const MAX_ALONE = 300;

/** Sites without styled messages state a refusal as a heading, in plain text, or in the words of their URL. */
function readStated(text: string): FailureCause | undefined {
  if (text.length > MAX_STATED) return undefined;
  const cause = readMessageCause(text);
  return cause !== undefined && STATED.has(cause) ? cause : undefined;
}

/** Names of what a login is about. */
function isAboutLogin(said: string): boolean {
  return says.password(said) || says.signIn(said) || reports.username(said) || OF_ACCOUNT.test(said);
}

/** Whether a page that states a refusal can be about nothing else, though strangers may not see it. */
function isClearlyStated(cause: FailureCause | undefined, text: string): boolean {
  if (cause === undefined) return false;
  return (cause === 'rate-limited' && text.length <= MAX_ALONE) || isAboutLogin(normalizeText(text));
}

/** Causes that applications report of other things as well: builds fail, cards are invalid. */
const COMMON: ReadonlySet<FailureCause> = new Set(['wrong-credentials', 'error', 'field-rejected', 'expired']);
/** Causes that lists of people and doors have as a state of one or two words. */
const STATES: ReadonlySet<FailureCause> = new Set(['locked', 'suspended']);
const STATE = /^\S{1,20}(?: \S{1,20})?$/;
/** Times that the rest of a page is longer than a message aside. */
const REST = 3;

function isAside({ text }: ElementDescription, cause: FailureCause, shown: string): boolean {
  const said = normalizeText(text);
  const isCommon = COMMON.has(cause) || (STATES.has(cause) && STATE.test(said));
  if (!isCommon || shown.length < (REST + 1) * text.length) return false;
  return !isAboutLogin(said) && !says.code(said);
}

/** Reads the signals of how an attempt ended. Pure. */
export function readOutcome({ frames }: Observation): OutcomeSignals {
  const elements = frames.flatMap((frame) => frame.elements);
  const passwords = elements.filter((element) => element.type === 'password' && isUsable(element));
  const logout = findLogout(elements);
  const isAsking = promptsSignIn(frames);
  const isInside = logout !== undefined && passwords.length === 0 && !isAsking;
  const shown = frames.map((frame) => frame.text).join(' ');
  const failures = elements
    .filter((element) => element.control === 'message' && isSeen(element))
    .flatMap((element) => {
      const cause = readFailure(element);
      const counts = cause !== undefined && (!isInside || isAboutAccount(element, cause));
      return counts ? [{ id: element.id, cause, aside: isAside(element, cause, shown) }] : [];
    })
    .toSorted((a, b) => RANK.indexOf(a.cause) - RANK.indexOf(b.cause));
  const stated = logout === undefined ? readStated(shown) : undefined;
  const confirming = frames.flatMap(findConfirm);
  return {
    failures,
    logout: logout?.id,
    account: findAccount(elements)?.id,
    passwordField: passwords.length > 0,
    passwordEmpty: passwords.some((element) => !element.filled),
    promptsSignIn: isAsking,
    messageSentNotice: findMessageSentNotice(frames),
    confirm: confirming.length === 1 ? confirming[0]?.id : undefined,
    stated,
    clearlyStated: isClearlyStated(stated, shown),
    otherWays: findOtherMethods(elements),
  };
}
