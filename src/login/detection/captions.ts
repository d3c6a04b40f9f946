import type { ElementDescription } from './description.ts';
import { buildMatcher, normalizeText } from './match.ts';
import { FORGOT, NEXT, REGISTER, SIGN_IN } from './words/actions.ts';
import { PASSWORD } from './words/fields.ts';
import { BARE_CODE, CODE, NEW, SEARCH } from './words/more-fields.ts';
import { LINK, SENT } from './words/more-outcomes.ts';
import { CONSENT, LOGOUT, REFUSE, SUBSCRIBE } from './words/more-actions.ts';
import { CHECKOUT, GUEST, MINOR, OTHER_WAYS } from './words/traits.ts';

export const says = {
  signIn: buildMatcher(SIGN_IN),
  register: buildMatcher(REGISTER),
  forgot: buildMatcher(FORGOT),
  next: buildMatcher(NEXT),
  password: buildMatcher(PASSWORD),
  code: buildMatcher(CODE),
  bareCode: buildMatcher(BARE_CODE),
  sent: buildMatcher(SENT),
  link: buildMatcher(LINK),
  fresh: buildMatcher(NEW),
  search: buildMatcher(SEARCH),
  subscribe: buildMatcher(SUBSCRIBE),
  checkout: buildMatcher(CHECKOUT),
  guest: buildMatcher(GUEST),
  otherWay: buildMatcher(OTHER_WAYS),
  minor: buildMatcher(MINOR),
  logout: buildMatcher(LOGOUT),
  refuse: buildMatcher(REFUSE),
  consent: buildMatcher(CONSENT),
};

/** The meaning of a button, by its words. */
export type Caption =
  | 'sign-in'
  | 'register'
  | 'forgot'
  | 'other-way'
  | 'guest'
  | 'search'
  | 'subscribe'
  | 'checkout'
  | 'next'
  | 'minor'
  /** No words, or none that are known. */
  | 'unknown';

/** "Sign in to Example" names the site itself, "with Example" another site. */
const OWN_NAME = /^(?:log|sign) ?(?:in|on) (?:to|at) /;
const LONG_CAPTION = 60;

/** "New here? Register" in one button with "Log in": the words for new users count only if they are alone. */
function decideWords(text: string): Caption | undefined {
  if (text === '') return undefined;
  if (says.logout(text) && !says.signIn(text)) return 'minor';
  if (says.otherWay(text) && !OWN_NAME.test(text)) return 'other-way';
  if (says.forgot(text)) return 'forgot';
  if (says.guest(text)) return 'guest';
  const isSignIn = says.signIn(text);
  if (says.subscribe(text)) return 'subscribe';
  if (says.register(text) && !isSignIn) return 'register';
  if (isSignIn && !says.register(text)) return 'sign-in';
  if (isSignIn) return /^(?:log|sign) ?(?:in|on)/.test(text) ? 'sign-in' : 'register';
  if (says.checkout(text)) return 'checkout';
  if (says.search(text)) return 'search';
  if (says.minor(text)) return 'minor';
  return says.next(text) ? 'next' : undefined;
}

/** By the visible text, then by the element's names. */
export function decideCaption(element: ElementDescription): Caption {
  const shown = normalizeText(`${element.text} ${element.text === '' ? element.ariaLabel || element.title : ''}`);
  if (shown.length > LONG_CAPTION) return says.otherWay(shown) ? 'other-way' : 'unknown';
  const byShown = decideWords(shown);
  if (byShown !== undefined) return byShown;
  const aria = decideWords(normalizeText(element.ariaLabel));
  if (aria !== undefined) return aria;
  const named = decideWords(normalizeText(`${element.name} ${element.htmlId} ${element.marks} ${element.className}`));
  // Class names mostly describe style. Only these describe the action of a button.
  return named === 'minor' || named === 'next' || named === 'search' ? 'unknown' : (named ?? 'unknown');
}

/** Whether the button may submit a form, by its words alone. */
export function canSend(caption: Caption): boolean {
  return caption !== 'minor' && caption !== 'other-way' && caption !== 'forgot' && caption !== 'guest';
}
