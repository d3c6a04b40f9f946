import { canSend } from './captions.ts';
import type { Caption } from './captions.ts';
import type { ElementDescription } from './description.ts';
import { isShownAsPassword, isWordedForCode } from './roles.ts';
import type { Role } from './roles.ts';
import type { FieldRole } from './login-plan.ts';

type Field = { element: ElementDescription; order: number; role: Role };

/** Roles that words alone may wrongly give to a user name field: "Name", "Card number", "Wayne State ID". */
const DOUBTFUL: ReadonlySet<FieldRole> = new Set([
  'other',
  'given-name',
  'family-name',
  'full-name',
  'address',
  'birth',
  'card',
  'code',
  'company',
  'search',
]);
const NAMES: ReadonlySet<FieldRole> = new Set(['username', 'email', 'phone']);
/** Roles of a second field beside the user name, such as the family name beside the number of a library card. */
const PERSONAL: ReadonlySet<FieldRole> = new Set(['given-name', 'family-name', 'full-name', 'birth', 'address']);
const TEXT_TYPES = /^(?:text|email|tel|number|search|)$/;

const isPasswordRole = ({ role }: Field) => /^(?:password|new-password|password-again)$/.test(role.role);

function isInput({ element }: Field): boolean {
  return element.control === 'field' && element.tag === 'input' && !(element.readOnly && element.filled);
}

function changeRole(fields: readonly Field[], changed: Field, role: FieldRole, certainty: number): Field[] {
  return fields.map((field) =>
    field === changed ? { ...field, role: { ...field.role, role, certainty, current: false } } : field,
  );
}

/** A text field labelled just "Password" after a user name field, if there is no other password. */
function findShownPassword(fields: readonly Field[]): Field | undefined {
  const inputs = fields.filter(isInput);
  if (inputs.some((field) => field.element.type === 'password' || isPasswordRole(field))) return undefined;
  return inputs.find((field, index) => index > 0 && isShownAsPassword(field.element));
}

/** A password field that only a wrong token calls a code: it follows a user name field, and no word says code. */
function findHiddenPassword(fields: readonly Field[]): Field | undefined {
  const inputs = fields.filter(isInput);
  if (inputs.some(isPasswordRole)) return undefined;
  return inputs.find(
    (field, index) =>
      index > 0 &&
      field.element.type === 'password' &&
      field.role.role === 'code' &&
      field.element.maxLength !== 1 &&
      !isWordedForCode(field.element),
  );
}

/** The field that a person takes for the user name although its words say otherwise. */
function findDoubtedName(fields: readonly Field[], captions: readonly Caption[]): Field | undefined {
  const inputs = fields.filter(isInput);
  const texts = inputs.filter((field) => TEXT_TYPES.test(field.element.type) && !isPasswordRole(field));
  if (texts.some(({ role }) => NAMES.has(role.role))) return undefined;
  const saysSignIn = captions.includes('sign-in');
  const password = inputs.filter(isPasswordRole);
  const [only] = password;
  if (only === undefined) return saysSignIn ? findLoneName(texts) : undefined;
  if (password.length > 1) return undefined;
  const before = texts.filter(
    ({ role, order, element }) =>
      order < only.order &&
      DOUBTFUL.has(role.role) &&
      element.maxLength !== 1 &&
      !(role.role === 'code' && isWordedForCode(element)),
  );
  const plain = before.filter(({ role }) => !role.tenant);
  const candidates = plain.length > 0 ? plain : before;
  if (candidates.length === 1) return texts.length <= 2 ? candidates[0] : undefined;
  if (candidates.length !== 2 || texts.length > 2 || !saysSignIn) return undefined;
  return candidates.find(({ role }) => !PERSONAL.has(role.role)) ?? candidates[1];
}

/** The only field of a form that signs in. */
function findLoneName(texts: readonly Field[]): Field | undefined {
  const [field, ...others] = texts;
  if (field === undefined || others.length > 0 || field.element.maxLength === 1) return undefined;
  return PERSONAL.has(field.role.role) || field.role.role === 'card' ? field : undefined;
}

/** Corrects the roles that depend on neighbouring fields of the form. */
export function settleRoles(fields: readonly Field[], captions: readonly Caption[]): readonly Field[] {
  let settled = fields;
  const shown = findShownPassword(settled) ?? findHiddenPassword(settled);
  if (shown) settled = changeRole(settled, shown, 'password', 3);
  const name = findDoubtedName(settled, captions.filter(canSend));
  return name ? changeRole(settled, name, 'username', 2) : settled;
}
