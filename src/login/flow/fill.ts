import { errorText } from '../../platform/errors.ts';
import { LoginError } from '../login-error.ts';
import type { LoginPlan, PlannedField } from '../detection/login-plan.ts';
import type { Site } from '../site.ts';
import { StaleElementError, press, pressEnter, setField, typeInto } from './page-actions.ts';
import type { ObservedPage } from './page-observer.ts';

/** Values to type. */
export type Values = {
  username: string | undefined;
  password: string | undefined;
  fields: Readonly<Record<string, string | number | boolean>>;
};

const simplify = (name: string) => name.toLowerCase().replaceAll(/[^\p{L}\d]/gu, '');

/** The caller's value for a field, by any of its names. */
export function findValue(field: PlannedField, fields: Values['fields']): string | number | boolean | undefined {
  const names = field.names.map(simplify).filter((name) => name !== '');
  const key = Object.keys(fields).find((given) => names.includes(simplify(given)));
  return key === undefined ? undefined : fields[key];
}

/** Throws `validation_error` for a required field without a value. */
export async function fillExtra({ page, plan }: ObservedPage, site: Site, values: Values): Promise<void> {
  for (const field of plan.extra) {
    const value = findValue(field, values.fields);
    if (value !== undefined) {
      await setField(page, site, field, value);
    } else if (field.required && !field.filled && (field.control === 'field' || field.control === 'select')) {
      throw new LoginError('validation_error', 'additionalFields: the form has a field that must be filled.', {
        details: { reason: 'missing_field', field: field.names[0] ?? '' },
      });
    }
  }
}

/**
 * Types the credentials of the plan. Returns the id of the last field, for Enter; empty if the plan has only a button.
 */
export async function fillCredentials(observed: ObservedPage, site: Site, values: Values): Promise<string> {
  const { page, plan } = observed;
  await fillExtra(observed, site, values);
  if (plan.username !== undefined && values.username !== undefined) {
    await typeInto(page, site, { id: plan.username, text: values.username, exact: true });
  }
  if (plan.password !== undefined && values.password !== undefined) {
    await typeInto(page, site, { id: plan.password, text: values.password, exact: true });
  }
  const last = plan.password ?? plan.username;
  if (last === undefined && plan.submit === undefined) throw new StaleElementError('the plan names no field');
  return last ?? '';
}

/** A single field takes the whole code, several fields a character each. */
export async function fillCode({ page, plan }: ObservedPage, site: Site, code: string): Promise<string> {
  const [first, ...more] = plan.code;
  if (first === undefined) throw new StaleElementError('the plan names no field for a code');
  if (more.length === 0) {
    await typeInto(page, site, { id: first, text: code, exact: false });
    return first;
  }
  for (const [at, id] of plan.code.entries()) {
    const character = code[at];
    if (character !== undefined) await typeInto(page, site, { id: id, text: character, exact: false });
  }
  return plan.code.at(-1) ?? first;
}

/** Presses the form's button, or Enter in the last field if no button can be pressed. */
export async function submit(
  { page, plan }: { page: ObservedPage['page']; plan: LoginPlan },
  last: string,
): Promise<void> {
  if (plan.submit !== undefined) {
    try {
      return await press(page, plan.submit);
    } catch (error) {
      // The form may have submitted itself after the last character.
      if (error instanceof StaleElementError || /detached|closed/i.test(errorText(error))) return;
    }
  }
  await pressEnter(page, last).catch((error: unknown) => {
    if (!(error instanceof StaleElementError)) throw error;
  });
}

/** Presses Enter in the last field, because the button sent nothing. */
export function submitByEnter({ page, plan }: ObservedPage): Promise<void> {
  const last = plan.password ?? plan.username ?? plan.code.at(-1) ?? '';
  return submit({ page, plan: { ...plan, submit: undefined } }, last);
}
