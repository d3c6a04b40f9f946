import type { ElementDescription } from './description.ts';
import { readOwnName, readTexts } from './field-texts.ts';
import type { Texts } from './field-texts.ts';
import { buildMatcher, normalizeText } from './match.ts';
import type { Matcher } from './match.ts';
import type { FieldRole } from './login-plan.ts';
import { EMAIL, PASSWORD, PHONE, USERNAME } from './words/fields.ts';
import { AGAIN, CAPTCHA, CODE, NEW, OLD, SEARCH } from './words/more-fields.ts';
import { REMEMBER } from './words/more-actions.ts';
import { SUBSCRIBE } from './words/more-actions.ts';
import * as traits from './words/traits.ts';

/** The role of a field and its certainty: 5 by a token, 4 by a name, 3 by the type, 1 by the position alone. */
export type Role = {
  role: FieldRole;
  certainty: number;
  /** Of a password: named as the current one, not a new one. */
  current: boolean;
  /** A tenant, as a company or domain: used as the user name only where there is no other field. */
  tenant: boolean;
};

const is = {
  username: buildMatcher(USERNAME),
  email: buildMatcher(EMAIL),
  phone: buildMatcher(PHONE),
  password: buildMatcher(PASSWORD),
  code: buildMatcher(CODE),
  captcha: buildMatcher(CAPTCHA),
  search: buildMatcher(SEARCH),
  fresh: buildMatcher(NEW),
  again: buildMatcher(AGAIN),
  old: buildMatcher(OLD),
  remember: buildMatcher(REMEMBER),
  newsletter: buildMatcher(SUBSCRIBE),
  terms: buildMatcher(traits.TERMS),
  tenant: buildMatcher(traits.TENANT),
  givenName: buildMatcher(traits.GIVEN_NAME),
  familyName: buildMatcher(traits.FAMILY_NAME),
  fullName: buildMatcher(traits.FULL_NAME),
  address: buildMatcher(traits.ADDRESS),
  birth: buildMatcher(traits.BIRTH),
  gender: buildMatcher(traits.GENDER),
  card: buildMatcher(traits.CARD),
  company: buildMatcher(traits.COMPANY),
  invitation: buildMatcher(traits.INVITATION),
} satisfies Record<string, Matcher>;

const TOKENS: Readonly<Record<string, FieldRole>> = {
  username: 'username',
  email: 'email',
  'current-password': 'password',
  'new-password': 'new-password',
  'one-time-code': 'code',
  'given-name': 'given-name',
  'family-name': 'family-name',
  'additional-name': 'family-name',
  name: 'full-name',
  organization: 'company',
  country: 'country',
  'country-name': 'country',
  bday: 'birth',
  'street-address': 'address',
  'postal-code': 'address',
};

function findTokenRole(tokens: readonly string[]): FieldRole | undefined {
  const last = tokens.findLast((token) => token !== 'webauthn');
  if (last === undefined) return undefined;
  const known = Object.hasOwn(TOKENS, last) ? TOKENS[last] : undefined;
  if (known) return known;
  if (last.startsWith('cc-')) return 'card';
  if (last === 'tel' || last.startsWith('tel-')) return 'phone';
  if (last.startsWith('bday-')) return 'birth';
  return /^address-(?:line|level)\d$/.test(last) ? 'address' : undefined;
}

/** Identifiers without word breaks: `txtusername`, `loginemail`. */
const RUN_TOGETHER: readonly (readonly [FieldRole, RegExp])[] = [
  ['captcha', /captcha/],
  [
    'code',
    /(?:^|[^a-z])(?:otp|totp|mfa|2fa|twofa|twofactor)|otp(?:code|input|\d)?$|onetimecode|verif(?:y|ication)code/,
  ],
  ['search', /search|suche|buscar/],
  ['email', /e?mail(?!er|list)/],
  ['username', /user(?!agent|type|role)|login|logon|account|kundennr|cust(?:omer)?id/],
  ['phone', /phone|mobile|telefon/],
  ['given-name', /first_?name|fname|vorname/],
  ['family-name', /last_?name|lname|surname|nachname/],
];

/** Whether the words of a field, visible or not, name a code. */
export function isWordedForCode(element: ElementDescription): boolean {
  return is.code(readTexts(element).all);
}

/** Whether the visible words of a field say "current password". */
export function isShownAsOld(element: ElementDescription): boolean {
  return is.old(readTexts(element).shown);
}

const MAX_BARE_LABEL = 2;

/** Whether the visible words of a text field are "Password" and hardly more. */
export function isShownAsPassword(element: ElementDescription): boolean {
  if (!/^(?:text)?$/.test(element.type) || element.tag !== 'input') return false;
  const { shown } = readTexts(element);
  const says = is.password(shown) && !is.username(shown) && !is.email(shown) && !is.code(shown);
  const words = [element.label, element.ariaLabel, element.placeholder].map(normalizeText).filter(is.password);
  return says && words.every((text) => text.split(' ').length <= MAX_BARE_LABEL);
}

/** The words say "password", and none of them a code. */
function deniesCode({ all }: Texts): boolean {
  return is.password(all) && !is.code(all);
}

function decidePassword(texts: Texts, token: FieldRole | undefined): Role {
  const build = (role: FieldRole, certainty: number, current = false): Role => ({
    role,
    certainty,
    current,
    tenant: false,
  });
  if (token === 'card' || /(?:^| )(?:cvc|cvv|csc|ccv)\d?(?: |$)/.test(texts.all)) return build('card', 4);
  if (token === 'code' && !deniesCode(texts)) return build('code', 5);
  if (is.again(texts.all) && !is.old(texts.all)) return build('password-again', 4);
  if (is.old(texts.all) || token === 'password') return build('password', 5, true);
  if (is.fresh(texts.shown) || /(?:^| )new(?: |$|pass|pw)/.test(texts.names)) return build('new-password', 4);
  // Many logins use "new-password" to prevent autofill, so the token alone is a weak signal.
  if (token === 'new-password') return build('new-password', 2);
  if (is.code(texts.all) && !/passw|pwd/.test(texts.names)) return build('code', 3);
  if (/(?:^| )(?:ssn|social security)/.test(texts.all)) return build('other', 3);
  return build('password', 4);
}

/** Topics of text fields, the most reliable first. */
const TOPICS: readonly (readonly [FieldRole, Matcher])[] = [
  ['captcha', is.captcha],
  ['code', is.code],
  ['card', is.card],
  ['email', is.email],
  ['phone', is.phone],
  ['username', is.username],
  ['invitation', is.invitation],
  ['search', is.search],
  ['given-name', is.givenName],
  ['family-name', is.familyName],
  ['birth', is.birth],
  ['address', is.address],
  ['company', is.company],
  ['full-name', is.fullName],
];

/** The role that a token gives to a text field, unless it is meant for passwords or denied by words. */
function findTextToken({ autocomplete }: ElementDescription, texts: Texts): FieldRole | undefined {
  const token = findTokenRole(autocomplete);
  if (token === undefined || token === 'new-password' || token === 'password') return undefined;
  return isDenied(token, texts) ? undefined : token;
}

/** A field called just "code": country codes, voucher codes and the like have full names. */
const BARE_CODE = /^(?:code|codigo|codice|kod|kode|koodi|код|コード|代码|코드)$/;

const TYPES: Readonly<Record<string, FieldRole>> = { email: 'email', tel: 'phone', search: 'search', date: 'birth' };
const NO_NAMES = new Set(['textarea', 'div', 'span', 'p']);

/** Words that also occur in long explanations and names of places. */
const WEAK: ReadonlySet<FieldRole> = new Set([
  'search',
  'given-name',
  'family-name',
  'birth',
  'address',
  'company',
  'full-name',
]);
/** Maximum length in words of a label that a weak word can decide. */
const MAX_WEAK_WORDS = 4;

/** `isLabel`: visible text. Weak words count only in short texts. */
export function findTopic(text: string, isLabel = false): FieldRole | undefined {
  const isLong = isLabel && text.split(' ').length > MAX_WEAK_WORDS;
  return TOPICS.find(([role, matches]) => !(isLong && WEAK.has(role)) && matches(text))?.[0];
}

/** The topic of the label, else of the placeholder and other visible texts. */
function findShownTopic({ shown }: Texts, { label, ariaLabel, placeholder, title }: ElementDescription) {
  const strong = findTopic(shown);
  if (strong === undefined || !WEAK.has(strong)) return strong;
  for (const part of [label, ariaLabel, placeholder, title]) {
    const found = findTopic(normalizeText(part), true);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Tokens that reliably describe a user name or password. Sites set all others to prevent autofill, too. */
const TRUSTED: ReadonlySet<FieldRole> = new Set(['username', 'email', 'password']);

/** Whether the visible words contradict a token: "User name" with the token of a given name or a code. */
function isDenied(token: FieldRole, { shown, names }: Texts): boolean {
  if (TRUSTED.has(token) || token === 'phone') return false;
  const says = findTopic(shown) ?? findTopic(names);
  return says === 'username' || says === 'email';
}

function decideText(element: ElementDescription, texts: Texts): Role {
  const tenant = is.tenant(texts.all) && !is.username(texts.shown) && !is.email(texts.shown);
  const build = (role: FieldRole, certainty: number): Role => ({ role, certainty, current: false, tenant });
  const token = findTextToken(element, texts);
  if (token) return build(token, 5);
  const shown = findShownTopic(texts, element);
  const named = findTopic(texts.names);
  const type = Object.hasOwn(TYPES, element.type) ? TYPES[element.type] : undefined;
  if (shown === 'captcha' || named === 'captcha') return build('captcha', 4);
  if (NO_NAMES.has(element.tag)) return build('other', 1);
  // The type `email` counts as much as a word, except for "e-mail or user name".
  if (type === 'email') return build('email', 4);
  if (type === 'search' || element.landmark === 'search') return build('search', 3);
  if (element.maxLength === 1 && /number|tel|text|password/.test(element.type)) return build('code', 2);
  return decideByWords(element, texts, { shown, named, type, build });
}

type Topics = {
  shown: FieldRole | undefined;
  named: FieldRole | undefined;
  type: FieldRole | undefined;
  build: (role: FieldRole, certainty: number) => Role;
};

function decideByWords(element: ElementDescription, texts: Texts, { shown, named, type, build }: Topics): Role {
  // "E-mail or phone", "phone or user name": any of several names.
  const isMany = [is.email, is.phone, is.username].filter((matches) => matches(texts.shown)).length > 1;
  if (isMany && shown !== 'code' && shown !== 'card') return build('username', 4);
  if (shown !== undefined) return build(shown, 4);
  if (BARE_CODE.test(texts.shown)) return build('code', 2);
  if (named !== undefined) return build(named, 4);
  const together = RUN_TOGETHER.find(([, pattern]) => pattern.test(readOwnName(element).toLowerCase()));
  if (together) return build(together[0], 3);
  return type ? build(type, 3) : build('other', 1);
}

function decideBox(texts: Texts): Role {
  const role = is.remember(texts.all) ? 'remember' : is.terms(texts.all) ? 'terms' : 'other';
  const isLetter = role !== 'remember' && is.newsletter(texts.all);
  return { role: isLetter ? 'newsletter' : role, certainty: 4, current: false, tenant: false };
}

/** Whether a text field takes a password: it was a password field, or all of its names say so. */
function isShownPassword(element: ElementDescription, texts: Texts): boolean {
  if (element.wasPassword) return true;
  if (!/^(?:text)?$/.test(element.type) || element.tag !== 'input') return false;
  const token = findTokenRole(element.autocomplete);
  if (token === 'password') return true;
  if (token !== undefined && token !== 'new-password') return false;
  const says = is.password(texts.shown) && !is.username(texts.shown) && !is.email(texts.shown) && !is.code(texts.shown);
  return says && /pass|pwd|psw/i.test(`${element.name} ${element.htmlId}`);
}

/** Decides the role of a field, select or checkbox. */
export function decideRole(element: ElementDescription): Role {
  const texts = readTexts(element);
  if (element.control === 'checkbox' || element.control === 'radio') return decideBox(texts);
  if (element.control === 'select') {
    const token = findTokenRole(element.autocomplete);
    const role =
      token ??
      (is.card(texts.all) ? 'card' : is.birth(texts.all) || is.gender(texts.all) ? 'birth' : undefined) ??
      (is.address(texts.all) ? 'address' : /country|land|pais|pays|страна/.test(texts.all) ? 'country' : 'other');
    return { role, certainty: 3, current: false, tenant: is.tenant(texts.all) };
  }
  if (element.type === 'password' || isShownPassword(element, texts)) {
    return decidePassword(texts, findTokenRole(element.autocomplete));
  }
  return decideText(element, texts);
}
