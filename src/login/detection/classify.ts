import { normalizeText } from './match.ts';
import type { ElementDescription, FrameDescription, Observation } from './description.ts';
import { judgeFrames } from './kinds.ts';
import type { Verdict } from './kinds.ts';
import { findObstacles } from './obstacles.ts';
import { findOpeners } from './login-links.ts';
import type { LoginPlan, Opener, PageKind, PlanReason, PlannedField } from './plan.ts';
import { isFillable, isPassword, isUsable } from './sections.ts';
import type { Field, Section } from './sections.ts';
import type { Signs } from './signals.ts';
import { findSubmit } from './submit.ts';

const FILLED_KINDS = new Set<PageKind>(['login', 'username-first', 'password-step', 'one-time-code']);
const WITH_FIELDS = new Set<PageKind>(['registration', 'change', 'recovery']);
/** Which kind names the page where several sections are of none that is filled. */
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
/** Two logins whose scores are no further apart than this are equally likely. */
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

/** The field for the user name: the one that says so; among equals the one right before the password. */
function findUsername({ signs }: Verdict, password: Field | undefined): Field | undefined {
  const candidates = signs.texts.filter(
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

/** A second password without a name of its own makes it a guess which is which. */
function findPassword({ signs }: Verdict): Field | 'ambiguous' | undefined {
  const current = signs.passwords.filter(({ role }) => role.role === 'password');
  const named = (current.length > 0 ? current : signs.passwords).filter(
    ({ element }) => element.name + element.htmlId !== '',
  );
  const candidates = named.length > 0 ? named : signs.passwords;
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
  openers: [],
  obstacles: [],
  evidence: [],
};

function listEvidence({ signs, kind }: Verdict): string[] {
  return [kind, ...[...signs.weights].map(([name, weight]) => `${name} ${weight > 0 ? '+' : ''}${weight}`)];
}

/** The same form twice on a page, as in a header and a drawer, is no question: names and path are the same. */
function isSameForm(a: Section, b: Section): boolean {
  const name = (section: Section) =>
    section.fields
      .filter(isFillable)
      .map(({ element }) => `${element.name}/${element.type}/${normalizeText(element.label)}`)
      .join();
  return a.frame === b.frame && name(a) === name(b) && a.form?.path === b.form?.path && a.form !== undefined;
}

function refuse(verdict: Verdict, reason: PlanReason): LoginPlan {
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

function planSection(verdict: Verdict): LoginPlan {
  const { section, kind, signs } = verdict;
  if (section.form?.downgraded === true) return refuse(verdict, 'insecure-action');
  const password = kind === 'login' || kind === 'password-step' ? findPassword(verdict) : undefined;
  if (password === 'ambiguous') return refuse(verdict, 'ambiguous');
  const username = kind === 'login' || kind === 'username-first' ? findUsername(verdict, password) : undefined;
  const named = signs.texts.filter(({ role }) => role.role === 'code');
  const code = kind !== 'one-time-code' ? [] : named.length > 0 ? named : signs.texts;
  return buildFill(verdict, { kind, username, password, code });
}

/** The fields of a section that are to be filled, and what kind of form they make it. */
export type Filled = {
  kind: PageKind;
  username: Field | undefined;
  password: Field | undefined;
  code: readonly Field[];
};

function buildFill(verdict: Verdict, { kind, username, password, code }: Filled): LoginPlan {
  const { section, signs } = verdict;
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
      section.captcha || signs.texts.some(({ element, role }) => role.role === 'captcha' && element.tag === 'input'),
    evidence: listEvidence(verdict),
  };
}

function addSurroundings(plan: LoginPlan, { section }: Verdict, observation: Observation): LoginPlan {
  const ids = [plan.username, plan.password, ...plan.code, plan.submit].filter((id) => id !== undefined);
  return { ...plan, obstacles: findObstacles(section.frame, ids), openers: findOpeners(observation) };
}

/** The plan that fills these fields of a section, with what lies over them. */
export function buildPlan(observation: Observation, verdict: Verdict, filled: Filled): LoginPlan {
  return addSurroundings(buildFill(verdict, filled), verdict, observation);
}

function chooseKind(all: readonly Verdict[]): Verdict | undefined {
  const verdicts = all.filter(({ kind }) => ORDER.includes(kind));
  const most = (verdict: Verdict) => verdict.section.fields.length;
  return verdicts.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || most(b) - most(a))[0];
}

/** Logins that are there, but where nobody sees them. */
function hasUnseenLogin(frames: readonly FrameDescription[]): boolean {
  return frames.some(({ elements }) => elements.some((element) => element.type === 'password' && !isUsable(element)));
}

function planOthers(observation: Observation, verdicts: readonly Verdict[]): LoginPlan {
  const openers = findOpeners(observation);
  const elements = observation.frames.flatMap((frame) => frame.elements);
  const captcha = elements.some(({ control, unseen }) => control === 'captcha' && unseen === undefined);
  const chosen = chooseKind(verdicts);
  if (chosen === undefined || chosen.kind === 'none') {
    if (captcha) return { ...EMPTY, kind: 'captcha', reason: 'captcha', captcha, openers };
    const reason = openers.length > 0 ? 'open' : hasUnseenLogin(observation.frames) ? 'unseen' : 'nothing';
    return { ...EMPTY, reason, openers };
  }
  const plan = refuse(
    chosen,
    openers.length > 0 ? 'open' : hasUnseenLogin(observation.frames) ? 'unseen' : 'other-kind',
  );
  if (!WITH_FIELDS.has(chosen.kind)) return { ...plan, openers };
  const { section, kind } = chosen;
  const fields = section.fields.map(describeField);
  return { ...plan, openers, fields, submit: findSubmit(section, kind, section.fields.filter(isFillable))?.id };
}

/** The address that a checkout asks of everybody is no login until its button says so. */
function isGuestField(kind: PageKind, signs: Signs): boolean {
  return kind === 'username-first' && !signs.weights.has('button says sign in');
}

const isShown = ({ section }: Verdict) => section.fields.some(({ element }) => element.unseen === undefined);
const isTucked = ({ section }: Verdict) => section.fields.every(({ element }) => element.tucked);
/** A registration with so many times the fields of a login beside it is what the page is for. */
const DOMINANT = 3;

/** Whether a registration is what the page is for, and the login beside it only on the way to the login's own page. */
function isBesideRegistration(login: Verdict, verdicts: readonly Verdict[], openers: readonly Opener[]): boolean {
  if (login.section.fields.some(({ element }) => element.focused)) return false;
  const registrations = verdicts.filter((verdict) => verdict.kind === 'registration' && isShown(verdict));
  // What names call a closed dialog or menu is no login yet.
  if (isTucked(login) && registrations.some((verdict) => !isTucked(verdict))) return true;
  const leadsAway = openers.some(({ id }) => {
    const opener = login.section.frame.elements.find((element) => element.id === id);
    return opener?.control === 'link' && opener.path !== '' && opener.path !== login.section.frame.path;
  });
  return leadsAway && registrations.some(({ signs }) => signs.texts.length >= DOMINANT * login.signs.texts.length);
}

/** What to do with a page to sign in on it. Pure: the same description leads to the same plan. */
export function planLogin(observation: Observation): LoginPlan {
  const verdicts = judgeFrames(observation.frames);
  const isCheckout = verdicts.some(({ kind }) => kind === 'checkout');
  const candidates = verdicts
    .filter(({ kind, signs }) => FILLED_KINDS.has(kind) && !(isCheckout && isGuestField(kind, signs)))
    .toSorted((a, b) => b.score - a.score);
  const [best, second] = candidates;
  if (best === undefined) return planOthers(observation, verdicts);
  if (isBesideRegistration(best, verdicts, findOpeners(observation))) return planOthers(observation, verdicts);
  const isClose = second !== undefined && second.kind === best.kind && best.score - second.score < MARGIN;
  if (isClose && !isSameForm(best.section, second.section)) return refuse(best, 'ambiguous');
  const plan = planSection(best);
  return plan.reason === 'fill' ? addSurroundings(plan, best, observation) : plan;
}
