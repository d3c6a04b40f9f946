import { canSend, decideCaption } from './captions.ts';
import type { Caption } from './captions.ts';
import type { ElementDescription, FormDescription, FrameDescription } from './description.ts';
import { settleRoles } from './field-context.ts';
import { decideRole } from './roles.ts';
import type { Role } from './roles.ts';

export type Field = { element: ElementDescription; order: number; role: Role };
export type Button = { element: ElementDescription; order: number; caption: Caption };

/** Fields and buttons that belong together: a form, or neighbours without a form. */
export type Section = {
  frame: FrameDescription;
  form: FormDescription | undefined;
  /** Usable fields, in page order. */
  fields: readonly Field[];
  buttons: readonly Button[];
  /** Links in the section. */
  links: readonly Button[];
  /** Headings in the section, and the one right before it. */
  headings: readonly string[];
  captcha: boolean;
  /** Hidden password fields of its form. */
  unseenPasswords: number;
};

const FIELD_CONTROLS = new Set(['field', 'select', 'checkbox', 'radio']);

export function isField(element: ElementDescription): boolean {
  return FIELD_CONTROLS.has(element.control);
}

/** Whether a person can see and use it, assuming that its cover is dismissed and a script enables it. */
export function isUsable(element: ElementDescription): boolean {
  // Checkboxes are often transparent, under another element that draws them.
  if (element.control === 'checkbox' || element.control === 'radio') return element.unseen !== 'not-rendered';
  if (element.unseen !== undefined && element.unseen !== 'covered') return false;
  return !(isField(element) && element.untabbable && !element.focused);
}

/** A field that a person can fill, not one that shows an earlier input. */
export function isFillable(field: Field): boolean {
  return field.element.control === 'field' && !(field.element.readOnly && field.element.filled);
}

export function isPassword(field: Field): boolean {
  return /^(?:password|new-password|password-again)$/.test(field.role.role);
}

const PAGE_WIDE_ELEMENTS = 40;

/** A form around the whole page, as some frameworks create, does not group its fields. */
function isPageWide(fields: readonly Field[], elements: readonly ElementDescription[]): boolean {
  const texts = fields.filter(isFillable);
  const hasSearch = texts.some((field) => field.role.role === 'search');
  if (hasSearch && texts.length > 1) return true;
  const links = elements.filter((element) => element.control === 'link').length;
  const landmarks = new Set(elements.map((element) => element.landmark));
  return links > PAGE_WIDE_ELEMENTS || (landmarks.has('footer') && (landmarks.has('nav') || landmarks.has('header')));
}

type Controls = { fields: readonly Field[]; buttons: readonly Button[]; links: readonly Button[] };

function isIn(container: number, element: ElementDescription): boolean {
  return element.containers.includes(container);
}

function isSender(button: Button): boolean {
  return canSend(button.caption) && (button.caption !== 'unknown' || button.element.type === 'submit');
}

/** The smallest container around a field with a submit button, and for a password with a user name field. */
function findContainer(field: Field, { fields, buttons, links }: Controls): number | undefined {
  const senders = [...buttons.filter(isSender), ...links.filter((link) => link.caption === 'sign-in')];
  const within = (container: number) => fields.filter((other) => isFillable(other) && isIn(container, other.element));
  const { containers } = field.element;
  const sending = containers.findIndex((container) => senders.some(({ element }) => isIn(container, element)));
  if (sending === -1) return containers.at(-1);
  if (!isPassword(field)) return containers[sending];
  const passwords = (container: number) => within(container).filter(isPassword).length;
  const own = containers[sending] ?? 0;
  const hasName = (container: number) =>
    within(container).some((other) => !isPassword(other) && other.role.role !== 'search');
  if (hasName(own)) return own;
  const wider = containers.slice(sending + 1).find(hasName);
  if (wider === undefined || passwords(wider) > passwords(own)) return own;
  return within(wider).length - within(own).length <= 3 ? wider : own;
}

function groupLoose(parts: Controls): { fields: Field[]; container: number | undefined }[] {
  const groups: { fields: Field[]; container: number | undefined }[] = [];
  const taken = new Set<Field>();
  const texts = parts.fields.filter((field) => field.element.control === 'field');
  for (const seed of [...texts.filter(isPassword), ...texts, ...parts.fields]) {
    if (taken.has(seed)) continue;
    const container = findContainer(seed, { ...parts, fields: parts.fields.filter((field) => !taken.has(field)) });
    const isMember = ({ element }: Field) => container === undefined || isIn(container, element);
    const fields = parts.fields.filter((field) => field === seed || (!taken.has(field) && isMember(field)));
    for (const field of fields) taken.add(field);
    groups.push({ fields, container });
  }
  return groups;
}

/**
 * The parts of one form that both signs in and registers, each with its own password and button. Empty for other
 * forms.
 */
function splitForm(parts: Controls): (Controls & { container: number | undefined })[] {
  const captions = parts.buttons.filter(isSender).map(({ caption }) => caption);
  const hasBoth = captions.includes('sign-in') && captions.includes('register');
  if (!hasBoth || parts.fields.filter(isPassword).length < 2) return [];
  const groups = groupLoose(parts).map(({ fields, container }) => {
    const isNear = ({ element }: Button) => container === undefined || isIn(container, element);
    return { fields, container, buttons: parts.buttons.filter(isNear), links: parts.links.filter(isNear) };
  });
  const isWhole = groups
    .filter(({ fields }) => fields.some(isPassword))
    .every(({ buttons }) => new Set(buttons.filter(isSender).map(({ caption }) => caption)).size === 1);
  return isWhole && groups.length > 1 ? groups : [];
}

/** The smallest common container. */
function findCommon(elements: readonly ElementDescription[]): number | undefined {
  const [first, ...others] = elements;
  return first?.containers.find((container) => others.every((other) => isIn(container, other)));
}

const MAX_OUTSIDE_LEVELS = 6;

/** Buttons of a form that are right beside it. */
function findButtonsOutside(fields: readonly Field[], loose: readonly Button[]): readonly Button[] {
  const common = findCommon(fields.map(({ element }) => element));
  const [first] = fields;
  if (common === undefined || !first) return [];
  const from = first.element.containers.indexOf(common);
  for (const container of first.element.containers.slice(from, from + MAX_OUTSIDE_LEVELS)) {
    const found = loose.filter((button) => isSender(button) && isIn(container, button.element));
    if (found.length > 0) return found;
  }
  return [];
}

function findHeadings(frame: FrameDescription, fields: readonly Field[], container: number | undefined): string[] {
  const first = Math.min(...fields.map(({ order }) => order));
  const last = Math.max(...fields.map(({ order }) => order));
  const isSeen = (element: ElementDescription) => element.control === 'heading' && element.unseen === undefined;
  const inside = frame.elements.filter(
    (element, order) =>
      isSeen(element) && ((order > first && order < last) || (container !== undefined && isIn(container, element))),
  );
  let before: ElementDescription | undefined;
  for (let order = first - 1; order >= 0; order -= 1) {
    const element = frame.elements[order];
    if (!element || (isField(element) && isUsable(element) && element.control === 'field')) break;
    if (isSeen(element) && element.text !== '') {
      before = element;
      break;
    }
  }
  return [...new Set([...(before ? [before] : []), ...inside])].map((element) => element.text);
}

/** The sections of a frame, in the order of the page. */
export function buildSections(frame: FrameDescription): Section[] {
  const numbered = frame.elements.map((element, order) => ({ element, order }));
  const usable = numbered.filter(({ element }) => isUsable(element));
  const fields = usable
    .filter(({ element }) => isField(element))
    .map(({ element, order }) => ({ element, order, role: decideRole(element) }));
  const press = (control: string) =>
    usable
      .filter(({ element }) => element.control === control)
      .map(({ element, order }) => ({ element, order, caption: decideCaption(element) }));
  const all: Controls = { fields, buttons: press('button'), links: press('link') };
  const ofForm = (index: number): Controls => ({
    fields: all.fields.filter(({ element }) => element.form === index),
    buttons: all.buttons.filter(({ element }) => element.form === index),
    links: all.links.filter(({ element }) => element.form === index),
  });

  const real = frame.forms.flatMap((form, index) => {
    const parts = ofForm(index);
    const elements = frame.elements.filter((element) => element.form === index);
    return parts.fields.length === 0 || isPageWide(parts.fields, elements) ? [] : [{ form, index, parts }];
  });
  const owned = new Set(real.map(({ index }) => index));
  const isLoose = ({ element }: { element: ElementDescription }) =>
    element.form === undefined || element.form === -1 || !owned.has(element.form);
  const loose: Controls = {
    fields: all.fields.filter(isLoose),
    buttons: all.buttons.filter(isLoose),
    links: all.links.filter(isLoose),
  };

  const build = (parts: Controls, form: FormDescription | undefined, container: number | undefined): Section => {
    const common = container ?? findCommon(parts.fields.map(({ element }) => element));
    const isNear = (element: ElementDescription) => common === undefined || isIn(common, element);
    const sameForm = new Set(parts.fields.map(({ element }) => element.form));
    return {
      frame,
      form,
      ...parts,
      fields: settleRoles(
        parts.fields,
        parts.buttons.map(({ caption }) => caption),
      ),
      headings: findHeadings(frame, parts.fields, form ? undefined : common),
      captcha: frame.elements.some(
        (element) =>
          element.control === 'captcha' &&
          element.unseen === undefined &&
          (isNear(element) || sameForm.has(element.form)),
      ),
      unseenPasswords: frame.elements.filter(
        (element) =>
          element.type === 'password' && !isUsable(element) && (form ? sameForm.has(element.form) : isNear(element)),
      ).length,
    };
  };
  const sections = [
    ...real.flatMap(({ form, parts }) => {
      const split = splitForm(parts);
      if (split.length > 1) return split.map(({ container, ...own }) => build(own, form, container));
      const buttons = parts.buttons.some(isSender)
        ? parts.buttons
        : [...parts.buttons, ...findButtonsOutside(parts.fields, loose.buttons)];
      return [build({ ...parts, buttons }, form, undefined)];
    }),
    ...groupLoose(loose).map(({ fields: members, container }) => {
      const isNear = ({ element }: Button) => container === undefined || isIn(container, element);
      const form = frame.forms[members[0]?.element.form ?? -1];
      return build(
        { fields: members, buttons: loose.buttons.filter(isNear), links: loose.links.filter(isNear) },
        form,
        container,
      );
    }),
  ];
  return sections.sort((a, b) => (a.fields[0]?.order ?? 0) - (b.fields[0]?.order ?? 0));
}
