import type { Site } from '../site.ts';
import { LoginError } from '../login-error.ts';
import type { PlannedField } from '../detection/plan.ts';
import { setField, typeInto, withElement } from './page-actions.ts';
import type { ObservedPage } from './page-observer.ts';
import { findValue } from './fill.ts';
import type { Values } from './fill.ts';
import { makePassword } from './password.ts';

/** What a registration may be filled with. */
export type NewAccount = {
  email: string | undefined;
  username: string | undefined;
  /** made by the field's own rules when it is left out */
  password: string | undefined;
  inviteToken: string | undefined;
  fields: Values['fields'];
};

/** Fields whose value is known, or may be left alone. */
function chooseValue(field: PlannedField, account: NewAccount): string | boolean | number | undefined {
  const given = findValue(field, account.fields);
  if (given !== undefined) return given;
  switch (field.role) {
    case 'email':
      return account.email;
    case 'username':
      return account.username ?? account.email;
    case 'invitation':
      return account.inviteToken;
    case 'terms':
      return true;
    default:
      return undefined;
  }
}

const PASSWORDS = new Set(['password', 'new-password', 'password-again']);

/** Fills a registration form. Returns the password that was used and the last field, for Enter. */
export async function fillRegistration(
  { page, plan }: ObservedPage,
  site: Site,
  account: NewAccount,
): Promise<{ password: string; last: string }> {
  let { password } = account;
  let last = '';
  for (const field of plan.fields) {
    if (PASSWORDS.has(field.role)) {
      password ??= await makePasswordFor(page, field.id);
      await typeInto(page, site, field.id, password, { exact: true });
      last = field.id;
      continue;
    }
    const value = chooseValue(field, account);
    if (value !== undefined) {
      await setField(page, site, field, value);
      if (field.control === 'field') last = field.id;
    } else if (field.required && !field.filled && (field.control === 'field' || field.control === 'select')) {
      throw new LoginError('validation_error', 'additionalFields: the form has a field that must be filled.', {
        details: { reason: 'missing_field', field: field.names[0] ?? '' },
      });
    }
  }
  return { password: password ?? '', last };
}

function makePasswordFor(page: ObservedPage['page'], id: string): Promise<string> {
  return withElement(page, id, async (element) =>
    makePassword(
      await element.evaluate((node) => {
        const { minLength, maxLength, pattern } = node as unknown as {
          minLength: number;
          maxLength: number;
          pattern: string;
        };
        return { minLength, maxLength, pattern };
      }),
    ),
  );
}
