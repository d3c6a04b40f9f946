import { canSend, says } from './captions.ts';
import { normalizeText } from './match.ts';
import type { FieldRole } from './login-plan.ts';
import { isFillable, isPassword } from './sections.ts';
import type { Button, Field, Section } from './sections.ts';

/** Signals for the kind of a section. A weight above zero counts for a login, below zero against it. */
export type SectionSignals = {
  texts: readonly Field[];
  passwords: readonly Field[];
  /** The number of fields with a role. */
  count: (role: FieldRole) => number;
  /** Whether its headings, names or submit buttons have a word. */
  hasWord: (word: 'signIn' | 'register' | 'forgot' | 'subscribe' | 'search' | 'checkout' | 'code') => boolean;
  weights: ReadonlyMap<string, number>;
  score: number;
};

const PERSONAL = ['given-name', 'family-name', 'full-name', 'birth', 'address', 'company', 'country'] as const;
const MAX_PERSONAL = 4;

type Add = (name: string, weight: number) => void;

/** Title and path of the page, and its links: a login page links to the registration and vice versa. */
function weighPage({ frame, links: own }: Section, add: Add): void {
  const page = normalizeText(`${frame.title} ${frame.path}`);
  if (says.register(page) && !says.signIn(page)) add('page says register', -2);
  if (says.signIn(page) && !says.register(page)) add('page says sign in', 1);
  const inside = new Set(own.filter(({ caption }) => caption === 'sign-in').map(({ element }) => element));
  const links = frame.elements.filter(
    (element) => element.control === 'link' && element.unseen === undefined && !inside.has(element),
  );
  const captions = links.map(({ text }) => normalizeText(text)).filter((text) => text !== '' && text.length <= 60);
  const toSignIn = captions.some((text) => says.signIn(text) && !says.register(text));
  const toRegister = captions.some((text) => says.register(text) && !says.signIn(text));
  if (toSignIn && !toRegister) add('page links to sign in', -1.5);
  if (toRegister && !toSignIn) add('page links to register', 1.5);
  if (captions.some((text) => says.forgot(text))) add('page links to recovery', 1);
}

const isSubmit = ({ element }: Button) => element.type === 'submit' || element.type === 'image';

/**
 * The buttons that submit the form. Excludes buttons that lead to another form: "Register" beside "Next", a tab "Sign
 * in" above the fields.
 */
function findSenders({ buttons, fields }: Section): Button[] {
  const senders = buttons.filter(({ caption }) => canSend(caption));
  const submits = senders.filter(isSubmit);
  const leading = submits.filter(({ caption }) => caption === 'next' || caption === 'register');
  const first = Math.min(...fields.filter(isFillable).map(({ order }) => order));
  const isTab = (button: Button) => submits.length > 0 && button.order < first;
  const isAside = (button: Button) => button.caption === 'sign-in' && leading.length > 0;
  const pool = senders.filter((button) => isSubmit(button) || (!isTab(button) && !isAside(button)));
  const goesOn = pool.some(
    (button) =>
      button.caption === 'next' || button.caption === 'sign-in' || (isSubmit(button) && button.caption === 'unknown'),
  );
  const registers = pool.filter(({ caption }) => caption === 'register');
  // A submit button that registers decides the purpose of the form, unless an earlier button submits the same fields.
  const isOther = (button: Button) =>
    !isSubmit(button) ||
    pool.some((other) => other.caption === 'next' && isSubmit(other) && other.order < button.order);
  return goesOn ? pool.filter((button) => !registers.includes(button) || !isOther(button)) : pool;
}

function weighButtons(section: Section, add: Add): void {
  if (section.buttons.some(({ caption, element }) => canSend(caption) && element.type === 'submit'))
    add('has a submit', 1);
  const main = findSenders(section);
  const captions = main.filter(({ caption }) => caption === 'sign-in' || caption === 'register');
  const senders = captions.filter(({ element }) => element.type === 'submit' || element.tag !== 'a');
  const isSignIn = senders.some(({ caption }) => caption === 'sign-in');
  const isRegister = senders.some(({ caption }) => caption === 'register');
  const isLink = senders.length === 0 && section.links.some(({ caption }) => caption === 'sign-in');
  if (isLink) add('link says sign in', 3);
  if (isSignIn) add('button says sign in', isRegister ? 2 : 4);
  if (isRegister && !isSignIn) add('button says register', -5);
  const aside = section.buttons.filter((button) => canSend(button.caption) && !main.includes(button));
  const links = [...section.links, ...aside].map(({ caption }) => caption);
  if (links.includes('sign-in') && !links.includes('register') && (isRegister || isSignIn))
    add('sign-in link beside', -1.5);
  if (links.includes('register') && !links.includes('sign-in')) add('register link beside', 1);
}

function weighNames({ headings, form, links, buttons }: Section, add: Add): void {
  for (const heading of headings.map(normalizeText)) {
    if (says.register(heading) && !says.signIn(heading)) add('title says register', -3);
    else if (says.fresh(heading)) add('title asks for a new password', -3);
    if (says.signIn(heading) && !says.register(heading)) add('title says sign in', 2);
  }
  const name = form ? normalizeText(`${form.htmlId} ${form.name} ${form.className} ${form.label} ${form.path}`) : '';
  if (says.register(name) && !says.signIn(name)) add('form says register', -3);
  if (says.signIn(name) && !says.register(name)) add('form says sign in', 2);
  const beside = [...links, ...buttons.filter(({ element }) => element.type !== 'submit')];
  if (beside.some(({ caption }) => caption === 'forgot')) add('recovery beside', 2);
}

function weighFields(texts: readonly Field[], section: Section, add: Add): void {
  const passwords = texts.filter(isPassword);
  const count = (role: FieldRole) => section.fields.filter((field) => field.role.role === role).length;
  if (count('password-again') > 0) add('password twice', -6);
  else if (passwords.length === 2) add('two passwords', -1);
  for (const { role } of passwords) {
    if (role.role === 'new-password')
      add(role.certainty > 2 ? 'new password' : 'token of a new password', role.certainty > 2 ? -3 : -1.5);
    if (role.role === 'password' && role.current) add('current password', 3);
  }
  const personal = PERSONAL.reduce((sum, role) => sum + count(role), 0);
  if (personal > 0) add('personal fields', -2 * Math.min(personal, MAX_PERSONAL));
  const names = texts.filter(({ role }) => role.role === 'username' && role.certainty > 3).length;
  if (names > 0 && count('email') > 0) add('name and address', -2);
  if (count('email') > 1) add('address twice', -2);
  if (count('terms') > 0) add('terms', -2);
  if (count('newsletter') > 0) add('newsletter box', -1);
  if (count('remember') > 0) add('remember box', 2);
  if (count('invitation') > 0) add('invitation', -2);
  if (passwords.some(({ element }) => element.disabled)) add('disabled', -3);
  const others = texts.filter(({ role }) => role.role === 'other').length;
  if (others > 2) add('many fields', -others / 2);
}

/** Collects the signals that decide the kind of a section. */
export function readSignals(section: Section): SectionSignals {
  const weights = new Map<string, number>();
  const add = (name: string, weight: number) =>
    weights.set(name, weight + (name === 'new password' ? (weights.get(name) ?? 0) : 0));
  const texts = section.fields.filter(isFillable);
  weighFields(texts, section, add);
  weighButtons(section, add);
  weighNames(section, add);
  weighPage(section, add);
  const { form } = section;
  const senders = findSenders(section);
  const submits = senders.filter(isSubmit);
  const words = [
    ...section.headings,
    ...(submits.length > 0 ? submits : senders).map(({ element }) => element.text || element.ariaLabel),
    form ? `${form.htmlId} ${form.name} ${form.className} ${form.label} ${form.path}` : '',
  ].map(normalizeText);
  return {
    texts,
    passwords: texts.filter(isPassword),
    count: (role) => section.fields.filter((field) => field.role.role === role).length,
    hasWord: (word) => words.some((text) => says[word](text)),
    weights,
    score: [...weights.values()].reduce((sum, weight) => sum + weight, 0),
  };
}
