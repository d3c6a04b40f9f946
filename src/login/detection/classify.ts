import { normalizeText } from './match.ts';
import type { ElementDescription, FrameDescription, Observation } from './description.ts';
import { classifyFrames } from './kinds.ts';
import type { SectionVerdict } from './kinds.ts';
import { findObstacles } from './obstacles.ts';
import { findLoginLinks } from './login-links.ts';
import type { LoginPlan, LoginLink, PageKind, PlanReason, PlannedField } from './login-plan.ts';
import { isFillable, isPassword, isUsable } from './sections.ts';
import type { Field, Section } from './sections.ts';
import type { SectionSignals } from './signals.ts';
import { findSubmit } from './submit.ts';

const FILLED_KINDS = new Set<PageKind>(['login', 'username-first', 'password-step', 'one-time-code']);
const WITH_FIELDS = new Set<PageKind>(['registration', 'change', 'recovery']);
/** The order in which kinds name a page without a form to fill. */
const ORDER: readonly PageKind[] = [
  'registration',
  'change',
  'recovery',
  'checkout',
  'other',
  'newsletter',
  'search',
  'none',
];
/** Two logins with a smaller difference in score are equally likely. */
const MARGIN = 1;

const NAME_CERTAINTY: Readonly<Record<string, number>> = {
  username: 3,
  email: 2.5,
  phone: 2,
  other: 0,
  company: 0,
  'full-name': 0.5,
  'family-name': 0,
  card: 0.5,
};

/** The user name field by its name; among equals the one right before the password. */
function findUsername({ signals }: SectionVerdict, password: Field | undefined): Field | undefined {
  const candidates = signals.texts.filter(
    (field) => !isPassword(field) && field.role.role in NAME_CERTAINTY && field.element.tag === 'input',
  );
  const rate = (field: Field) => {
    const { role, certainty, tenant } = field.role;
    const words = (NAME_CERTAINTY[role] ?? 0) + (role === 'other' ? 0 : certainty / 10);
    const isAfter = password !== undefined && field.order > password.order;
    return words - (tenant ? 2 : 0) - (isAfter ? 3 : 0) - (field.element.disabled ? 1 : 0);
  };
  return candidates.toSorted((a, b) => rate(b) - rate(a) || b.order - a.order)[0];
}

/** Two password fields without names are ambiguous. */
function findPassword({ signals }: SectionVerdict): Field | 'ambiguous' | undefined {
  const current = signals.passwords.filter(({ role }) => role.role === 'password');
  const named = (current.length > 0 ? current : signals.passwords).filter(
    ({ element }) => element.name + element.htmlId !== '',
  );
  const candidates = named.length > 0 ? named : signals.passwords;
  const certain = candidates.filter(({ role }) => role.current);
  if (certain.length === 1) return certain[0];
  return candidates.length > 1 ? 'ambiguous' : candidates[0];
}

function listNames(element: ElementDescription): string[] {
  const { name, htmlId, label, ariaLabel, placeholder } = element;
  return [...new Set([name, htmlId, label, ariaLabel, placeholder])].filter((text) => text !== '');
}

function describeField({ element, role }: Field): PlannedField {
  const control = element.control as PlannedField['control'];
  const { id, type, required, filled } = element;
  return { id, role: role.role, control, type, names: listNames(element), required, filled };
}

const EMPTY: LoginPlan = {
  kind: 'none',
  reason: 'nothing',
  frame: undefined,
  username: undefined,
  password: undefined,
  code: [],
  remember: undefined,
  extra: [],
  fields: [],
  submit: undefined,
  captcha: false,
  loginLinks: [],
  obstacles: [],
  evidence: [],
};

function listEvidence({ signals, kind }: SectionVerdict): string[] {
  return [kind, ...[...signals.weights].map(([name, weight]) => `${name} ${weight > 0 ? '+' : ''}${weight}`)];
}

/**
 * What a person sees of the fields: role, type and label. The names can differ between the forms for two screen sizes.
 */
function listShown({ fields }: Section): string {
  return fields
    .filter(isFillable)
    .map(({ element: { type, label, ariaLabel, placeholder }, role }) =>
      [role.role, type, normalizeText(label || ariaLabel || placeholder)].join('/'),
    )
    .join();
}

/**
 * The same form twice on a page, as in a header and a drawer, is not ambiguous: fields and path are equal, and so are
 * headings if both have one.
 */
function isSameForm(a: Section, b: Section): boolean {
  const [first, second] = [a, b].map(({ headings }) => headings.map(normalizeText).join(' '));
  const sameTitle = first === second || first === '' || second === '';
  return a.frame === b.frame && sameTitle && listShown(a) === listShown(b) && a.form?.path === b.form?.path;
}

function refuse(verdict: SectionVerdict, reason: PlanReason): LoginPlan {
  const { section, kind } = verdict;
  return {
    ...EMPTY,
    kind,
    reason,
    frame: section.frame.frame,
    captcha: section.captcha,
    evidence: listEvidence(verdict),
  };
}

function planSection(verdict: SectionVerdict): LoginPlan {
  const { section, kind, signals } = verdict;
  if (section.form?.downgraded === true) return refuse(verdict, 'insecure-action');
  const password = kind === 'login' || kind === 'password-step' ? findPassword(verdict) : undefined;
  if (password === 'ambiguous') return refuse(verdict, 'ambiguous');
  const username = kind === 'login' || kind === 'username-first' ? findUsername(verdict, password) : undefined;
  const named = signals.texts.filter(({ role }) => role.role === 'code');
  const code = kind !== 'one-time-code' ? [] : named.length > 0 ? named : signals.texts;
  return buildFill(verdict, { kind, username, password, code });
}

/** The fields to fill in a section, and the kind of form. */
export type Filled = {
  kind: PageKind;
  username: Field | undefined;
  password: Field | undefined;
  code: readonly Field[];
};

function buildFill(verdict: SectionVerdict, { kind, username, password, code }: Filled): LoginPlan {
  const { section, signals } = verdict;
  const remember = section.fields.find(({ role }) => role.role === 'remember');
  const planned = [username, password, ...code].filter((field) => field !== undefined);
  return {
    ...EMPTY,
    kind,
    reason: 'fill',
    frame: section.frame.frame,
    username: username?.element.id,
    password: password?.element.id,
    code: code.map(({ element }) => element.id),
    remember: remember?.element.id,
    extra: section.fields.filter((field) => !planned.includes(field) && field !== remember).map(describeField),
    submit: findSubmit(section, kind, planned)?.id,
    captcha:
      section.captcha || signals.texts.some(({ element, role }) => role.role === 'captcha' && element.tag === 'input'),
    evidence: listEvidence(verdict),
  };
}

function addSurroundings(plan: LoginPlan, { section }: SectionVerdict, observation: Observation): LoginPlan {
  const ids = [plan.username, plan.password, ...plan.code, plan.submit].filter((id) => id !== undefined);
  return { ...plan, obstacles: findObstacles(section.frame, ids), loginLinks: findLoginLinks(observation) };
}

/** Builds the plan that fills these fields of a section, with the obstacles that cover them. */
export function buildPlan(observation: Observation, verdict: SectionVerdict, filled: Filled): LoginPlan {
  return addSurroundings(buildFill(verdict, filled), verdict, observation);
}

function chooseKind(all: readonly SectionVerdict[]): SectionVerdict | undefined {
  const verdicts = all.filter(({ kind }) => ORDER.includes(kind));
  const most = (verdict: SectionVerdict) => verdict.section.fields.length;
  return verdicts.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || most(b) - most(a))[0];
}

/** Whether the page has a login that is hidden. */
function hasUnseenLogin(frames: readonly FrameDescription[]): boolean {
  return frames.some(({ elements }) => elements.some((element) => element.type === 'password' && !isUsable(element)));
}

function planOthers(observation: Observation, verdicts: readonly SectionVerdict[]): LoginPlan {
  const loginLinks = findLoginLinks(observation);
  const elements = observation.frames.flatMap((frame) => frame.elements);
  const captcha = elements.some(({ control, unseen }) => control === 'captcha' && unseen === undefined);
  const chosen = chooseKind(verdicts);
  if (chosen === undefined || chosen.kind === 'none') {
    if (captcha) return { ...EMPTY, kind: 'captcha', reason: 'captcha', captcha, loginLinks };
    const reason = loginLinks.length > 0 ? 'open' : hasUnseenLogin(observation.frames) ? 'unseen' : 'nothing';
    return { ...EMPTY, reason, loginLinks };
  }
  const plan = refuse(
    chosen,
    loginLinks.length > 0 ? 'open' : hasUnseenLogin(observation.frames) ? 'unseen' : 'other-kind',
  );
  if (!WITH_FIELDS.has(chosen.kind)) return { ...plan, loginLinks };
  const { section, kind } = chosen;
  const fields = section.fields.map(describeField);
  return { ...plan, loginLinks, fields, submit: findSubmit(section, kind, section.fields.filter(isFillable))?.id };
}

/** The email field of a checkout is no login unless its button says so. */
function isGuestField(kind: PageKind, signals: SectionSignals): boolean {
  return kind === 'username-first' && !signals.weights.has('button says sign in');
}

const isShown = ({ section }: SectionVerdict) => section.fields.some(({ element }) => element.unseen === undefined);
const isCollapsed = ({ section }: SectionVerdict) => section.fields.every(({ element }) => element.collapsed);
/** A registration with this many times the fields of a login beside it is the purpose of the page. */
const DOMINANT = 3;

/** Whether the page is for registration, and the login beside it only leads to the login's own page. */
function isBesideRegistration(
  login: SectionVerdict,
  verdicts: readonly SectionVerdict[],
  loginLinks: readonly LoginLink[],
): boolean {
  if (login.section.fields.some(({ element }) => element.focused)) return false;
  const registrations = verdicts.filter((verdict) => verdict.kind === 'registration' && isShown(verdict));
  // A form in a closed dialog or menu, by the names of its containers, is not a login yet.
  if (isCollapsed(login) && registrations.some((verdict) => !isCollapsed(verdict))) return true;
  const leadsAway = loginLinks.some(({ id }) => {
    const opener = login.section.frame.elements.find((element) => element.id === id);
    return opener?.control === 'link' && opener.path !== '' && opener.path !== login.section.frame.path;
  });
  return (
    leadsAway && registrations.some(({ signals }) => signals.texts.length >= DOMINANT * login.signals.texts.length)
  );
}

/** Plans how to sign in on a page. Pure: the same description leads to the same plan. */
export function planLogin(observation: Observation): LoginPlan {
  const verdicts = classifyFrames(observation.frames);
  const isCheckout = verdicts.some(({ kind }) => kind === 'checkout');
  const candidates = verdicts
    .filter(({ kind, signals }) => FILLED_KINDS.has(kind) && !(isCheckout && isGuestField(kind, signals)))
    .toSorted((a, b) => b.score - a.score);
  const [best, second] = candidates;
  if (best === undefined) return planOthers(observation, verdicts);
  if (isBesideRegistration(best, verdicts, findLoginLinks(observation))) return planOthers(observation, verdicts);
  const isClose = second !== undefined && second.kind === best.kind && best.score - second.score < MARGIN;
  // Of two equal forms, the open one.
  const chosen = isClose && isCollapsed(best) && !isCollapsed(second) ? second : best;
  const isOpenAlone = isClose && isCollapsed(best) !== isCollapsed(second);
  if (isClose && !isOpenAlone && !isSameForm(best.section, second.section)) return refuse(best, 'ambiguous');
  const plan = planSection(chosen);
  return plan.reason === 'fill' ? addSurroundings(plan, chosen, observation) : plan;
}
