import { canSend, says } from './captions.ts';
import type { FrameDescription } from './description.ts';
import { normalizeText } from './match.ts';
import type { FieldRole, PageKind } from './login-plan.ts';
import { readTexts } from './field-texts.ts';
import { findTopic, isShownAsOld } from './roles.ts';
import { buildSections } from './sections.ts';
import type { Field, Section } from './sections.ts';
import { readSignals } from './signals.ts';
import type { SectionSignals } from './signals.ts';

/** A section and its purpose. */
export type SectionVerdict = {
  section: Section;
  kind: PageKind;
  signals: SectionSignals;
  /** Likelihood of the kind, compared with other sections of the page. */
  score: number;
};

/** From this score on, a user name and one password are a login; below it, a registration. */
const LOGIN_FROM = -0.5;
const NAMES: readonly FieldRole[] = [
  'username',
  'email',
  'phone',
  'other',
  'company',
  'full-name',
  'family-name',
  'card',
];

function countAll(signals: SectionSignals, ...roles: FieldRole[]): number {
  return roles.reduce((sum, role) => sum + signals.count(role), 0);
}

/** A code together with the password: the second step of some banks. */
function isCodeAndPassword({ texts, passwords, count }: SectionSignals): boolean {
  const codes = texts.filter(({ role }) => role.role === 'code' && role.certainty > 3).length;
  return codes > 0 && codes + passwords.length === texts.length && count('password') === 1;
}

/** Length of the text of a page with a single question. */
const MAX_STEP_TEXT = 600;

/** A single field without a telling name or label, on a page that mentions a code. */
function isUnnamedCode({ frame }: Section, signals: SectionSignals): boolean {
  const [field, ...others] = signals.texts;
  if (field === undefined || others.length > 0 || field.element.tag !== 'input' || saysRegister(signals)) return false;
  if (field.element.type === 'password' ? says.password(readTexts(field.element).all) : field.role.certainty > 1)
    return false;
  if (signals.hasWord('code')) return true;
  const text = frame.text.length > MAX_STEP_TEXT ? '' : normalizeText(frame.text);
  return says.code(text) || (says.sent(text) && says.bareCode(text));
}

function countIdentity(signals: SectionSignals): number {
  return countAll(signals, 'username', 'email', 'phone', 'given-name', 'full-name');
}

/** The kind of a form that sets a password; undefined for one that asks for the current password. */
function decideNewPassword(signals: SectionSignals): PageKind | undefined {
  const { passwords, score } = signals;
  const fresh = countAll(signals, 'new-password', 'password-again');
  const current = passwords.filter(({ role }) => role.role === 'password');
  const identity = countIdentity(signals);
  const isRegistration = signals.hasWord('register');
  if (fresh === 0) return undefined;
  if (identity <= 1) {
    const isChange = current.some(({ role }) => role.current) || (fresh > 1 && current.length === 1 && !isRegistration);
    if (isChange) return 'change';
  }
  if (identity > 0) return undefined;
  const isSetAlone = current.length <= 1 && passwords.length > 1;
  const isAllFresh = fresh === passwords.length && score < LOGIN_FROM;
  if (!isSetAlone && !isAllFresh) return undefined;
  return isRegistration ? 'registration' : 'recovery';
}

/** A setting, such as an address, that the current password confirms. No login says "Current password" to people. */
function confirmsChange({ texts, passwords, count, hasWord, weights }: SectionSignals): boolean {
  const [only, ...others] = passwords;
  if (only === undefined || others.length > 0 || texts.length < 2 || count('remember') > 0) return false;
  return !hasWord('signIn') && !weights.has('recovery beside') && isShownAsOld(only.element);
}

/** The purpose of a form with a password, other than signing in or registering. */
function decideOtherUse(section: Section, signals: SectionSignals): PageKind | undefined {
  if (confirmsChange(signals)) return 'change';
  if (isCodeAndPassword(signals) || isUnnamedCode(section, signals)) return 'one-time-code';
  if (signals.count('card') > 0 && (countIdentity(signals) === 0 || signals.hasWord('checkout'))) return 'checkout';
  return decideNewPassword(signals);
}

function decideWithPassword(section: Section, signals: SectionSignals): PageKind {
  const { passwords, score } = signals;
  const identity = countIdentity(signals);
  const other = decideOtherUse(section, signals);
  if (other !== undefined) return other;
  if (passwords.length > 2) return identity > 0 ? 'registration' : 'change';
  if (score < LOGIN_FROM) {
    return identity === 0 && passwords.length === 1 && signals.hasWord('forgot') ? 'recovery' : 'registration';
  }
  const isNamed = signals.texts.some((field) => !passwords.includes(field) && NAMES.includes(field.role.role));
  if (isNamed) return 'login';
  return passwords.length === 1 ? 'password-step' : 'other';
}

const ACCOUNT_WORDS = /account|konto|compte|cuenta|conta|profil|аккаунт|hesap|账|帳|アカウント|계정/i;

function saysRegister({ weights }: SectionSignals): boolean {
  return ['title says register', 'form says register', 'page says register'].some((name) => weights.has(name));
}

/** "Sign up" beside one address may mean a newsletter. It means an account if the page or its links say so. */
function isAccount(section: Section, signals: SectionSignals): boolean {
  const { weights, texts } = signals;
  return (
    saysRegister(signals) ||
    weights.has('page links to sign in') ||
    section.links.some(({ caption }) => caption === 'sign-in') ||
    section.buttons.some(({ caption }) => caption === 'other-way') ||
    texts.some(({ role }) => role.role === 'username') ||
    section.buttons.some(({ element }) => ACCOUNT_WORDS.test(element.text))
  );
}

/** "Submit" and "Send" end a form; "Next" and "Continue" lead to the password. */
const ENDS = /submit|send|envoyer|enviar|invia|verzenden|skicka|wyslij|odes|отправ|відправ|gonder|ok|送|提交/;

function leadsOn(section: Section): boolean {
  return section.buttons.some(({ caption, element }) => {
    return caption === 'next' && element.type !== 'reset' && !ENDS.test(normalizeText(element.text));
  });
}

/** A form named after address verification, on a page that does not mention signing in, starts a registration. */
function provesAddress({ frame, form }: Section): boolean {
  const page = normalizeText(`${frame.title} ${frame.path}`);
  return (
    form !== undefined && says.code(normalizeText(`${form.htmlId} ${form.name} ${form.path}`)) && !says.signIn(page)
  );
}

/** One field for a user name, by the words of its section. */
function decideAloneByWords(section: Section, signals: SectionSignals, names: string): PageKind | undefined {
  const { count, hasWord } = signals;
  if (hasWord('forgot') || says.forgot(names)) return 'recovery';
  if (hasWord('subscribe') || says.subscribe(names) || count('newsletter') > 0) return 'newsletter';
  if (hasWord('register') && !hasWord('signIn')) return isAccount(section, signals) ? 'registration' : 'newsletter';
  const canSubmit = section.form !== undefined || section.buttons.some(({ caption }) => canSend(caption));
  return hasWord('signIn') && canSubmit ? 'username-first' : undefined;
}

const SURE = 2;

/** Only the markup calls the field a name or an address; the visible words say otherwise. */
function isLabelledOtherwise({ element, role }: Field): boolean {
  const { shown } = readTexts(element);
  return shown !== '' && role.certainty < 5 && element.type !== 'email' && findTopic(shown) === undefined;
}

/** One field for a user name, and no password. */
function decideAlone(section: Section, signals: SectionSignals, first: Field): PageKind {
  const { role, certainty } = first.role;
  const page = normalizeText(`${section.frame.title} ${section.frame.path}`);
  const byWords = decideAloneByWords(section, signals, readTexts(first.element).all);
  if (byWords !== undefined) return byWords;
  if (role === 'username' && certainty === 5) return 'username-first';
  if (says.forgot(page)) return 'recovery';
  if (says.register(page) && !says.signIn(page)) return 'registration';
  if (section.unseenPasswords > 0) return 'username-first';
  if (role === 'email' && provesAddress(section)) return 'registration';
  if (leadsOn(section)) {
    if (signals.score < 0) return 'registration';
    return signals.score < SURE && isLabelledOtherwise(first) ? 'other' : 'username-first';
  }
  return role === 'email' ? 'newsletter' : 'other';
}

/** Names and addresses of persons, or a message: a form that is no login. */
function decidePersonal(section: Section, signals: SectionSignals): PageKind | undefined {
  const { texts, count, hasWord } = signals;
  const personal = countAll(signals, 'given-name', 'family-name', 'full-name', 'address', 'birth');
  if (personal === 0 && !texts.some(({ element }) => element.tag === 'textarea')) return undefined;
  if (hasWord('subscribe') && count('address') < 2) return 'newsletter';
  if (hasWord('register')) return isAccount(section, signals) ? 'registration' : 'newsletter';
  return hasWord('checkout') || count('address') > 1 ? 'checkout' : 'other';
}

function decideCode(section: Section, signals: SectionSignals): PageKind | undefined {
  const { texts } = signals;
  const codes = texts.filter(({ role }) => role.role === 'code');
  const others = texts.filter(({ role }) => role.role !== 'code' && role.role !== 'captcha');
  if (codes.length === 0) return isUnnamedCode(section, signals) ? 'one-time-code' : undefined;
  if (saysRegister(signals) && !(others.length === 0 && signals.hasWord('signIn'))) return 'registration';
  const isOneDigit = codes.length === 1 && codes[0]?.element.maxLength === 1;
  return others.length === 0 && !isOneDigit ? 'one-time-code' : 'other';
}

function decideWithoutPassword(section: Section, signals: SectionSignals): PageKind {
  const { texts, count } = signals;
  if (texts.length === 0) return 'none';
  if (count('card') > 0) return 'checkout';
  const code = decideCode(section, signals);
  if (code !== undefined) return code;
  if (count('search') > 0 && countAll(signals, 'email', 'username') === 0) return 'search';
  const personal = decidePersonal(section, signals);
  if (personal !== undefined) return personal;
  const identity = texts.filter(({ role }) => /^(?:username|email|phone)$/.test(role.role));
  const [first] = identity;
  return first === undefined || identity.length > 2 ? 'other' : decideAlone(section, signals, first);
}

/** Decides the purpose of a section. */
function decideKind(section: Section): SectionVerdict {
  const signals = readSignals(section);
  const kind =
    signals.passwords.length > 0 ? decideWithPassword(section, signals) : decideWithoutPassword(section, signals);
  const bonus = kind === 'login' ? 6 : kind === 'password-step' ? 2 : 0;
  return { section, kind, signals, score: signals.score + bonus };
}

/** The plan and the outcome signals of an observation use the same verdicts. */
const judged = new WeakMap<FrameDescription, readonly SectionVerdict[]>();

/** The sections of all frames, each with its purpose. A frame is classified once. */
export function classifyFrames(frames: readonly FrameDescription[]): SectionVerdict[] {
  return frames.flatMap((frame) => {
    const verdicts = judged.get(frame) ?? buildSections(frame).map(decideKind);
    judged.set(frame, verdicts);
    return verdicts;
  });
}
