import { buildPlan } from './classify.ts';
import type { Observation } from './description.ts';
import { classifyFrames } from './kinds.ts';
import type { SectionVerdict } from './kinds.ts';
import type { LoginPlan, PageKind } from './login-plan.ts';
import { isFillable } from './sections.ts';
import type { Button, Field } from './sections.ts';

/** The login's elements by id, as a model selected them on a page where detection fails. */
export type FieldSelection = { username: string | undefined; password: string | undefined; submit: string | undefined };

/** Kinds of sections that may be an unrecognized login. No other kind is ever filled. */
const OPEN_KINDS: ReadonlySet<PageKind> = new Set(['login', 'username-first', 'password-step', 'other']);
const NO_NAMES: ReadonlySet<string> = new Set(['search', 'card', 'code', 'captcha', 'address', 'newsletter']);
const NO_CAPTIONS: ReadonlySet<string> = new Set([
  'register',
  'forgot',
  'other-way',
  'guest',
  'search',
  'subscribe',
  'checkout',
  'minor',
]);

/** Fields and buttons of one section from which a login may be selected. */
export type Candidates = { verdict: SectionVerdict; names: Field[]; passwords: Field[]; buttons: Button[] };

function isPasswordInput({ element }: Field): boolean {
  return element.tag === 'input' && (element.type === 'password' || element.wasPassword);
}

function canHoldName(field: Field): boolean {
  const { element, role } = field;
  return element.tag === 'input' && !isPasswordInput(field) && !NO_NAMES.has(role.role);
}

/**
 * The candidates of each section: nothing hidden, nothing behind a bot check or sent
 * without encryption, and nothing from a form with another purpose.
 */
export function listCandidates({ frames }: Observation): Candidates[] {
  const verdicts = classifyFrames(frames);
  // A form without a password beside a checkout is for guests.
  const isCheckout = verdicts.some(({ kind }) => kind === 'checkout');
  return verdicts
    .filter(({ kind, section }) => OPEN_KINDS.has(kind) && !section.captcha && section.form?.downgraded !== true)
    .filter(({ signals }) => !isCheckout || signals.passwords.length > 0)
    .map((verdict) => {
      const fields = verdict.section.fields.filter((field) => isFillable(field) && !field.element.disabled);
      return {
        verdict,
        names: fields.filter(canHoldName),
        passwords: fields.filter(isPasswordInput),
        buttons: verdict.section.buttons.filter(({ caption }) => !NO_CAPTIONS.has(caption)),
      };
    });
}

/**
 * The plan for a selection, or undefined unless the whole selection is in one section. The rules are those of
 * detection.
 */
export function planSelection(observation: Observation, selection: FieldSelection): LoginPlan | undefined {
  const wanted = selection.password ?? selection.username;
  if (wanted === undefined) return undefined;
  for (const { verdict, names, passwords, buttons } of listCandidates(observation)) {
    const find = <T extends Field | Button>(list: readonly T[], id: string | undefined) =>
      list.find(({ element }) => id !== undefined && element.id === id);
    const username = find(names, selection.username);
    const password = find(passwords, selection.password);
    const submit = find(buttons, selection.submit);
    const isWhole =
      username?.element.id === selection.username &&
      password?.element.id === selection.password &&
      submit?.element.id === selection.submit;
    if (!isWhole) continue;
    const kind = password === undefined ? 'username-first' : username === undefined ? 'password-step' : 'login';
    const plan = buildPlan(observation, verdict, { kind, username, password, code: [] });
    return submit === undefined ? plan : { ...plan, submit: submit.element.id };
  }
  return undefined;
}
