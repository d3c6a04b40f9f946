import { canSend } from './captions.ts';
import type { Caption } from './captions.ts';
import type { ElementDescription } from './description.ts';
import { normalizeText } from './match.ts';
import type { PageKind } from './login-plan.ts';
import type { Button, Field, Section } from './sections.ts';

const WANTED: Readonly<Partial<Record<PageKind, Readonly<Partial<Record<Caption, number>>>>>> = {
  login: { 'sign-in': 6, next: 3, unknown: 1, register: -20, subscribe: -20, search: -20, checkout: -4 },
  'username-first': { 'sign-in': 5, next: 5, unknown: 1, register: -20, subscribe: -20, search: -20, checkout: -4 },
  'password-step': { 'sign-in': 6, next: 4, unknown: 1, register: -20, subscribe: -20, search: -20, checkout: -4 },
  'one-time-code': { 'sign-in': 5, next: 5, unknown: 1, register: -2, subscribe: -20, search: -20, checkout: -20 },
  registration: { register: 6, next: 4, 'sign-in': -6, unknown: 1, subscribe: 1, search: -20, checkout: -2 },
  change: { next: 3, unknown: 2, 'sign-in': -3, register: 1, subscribe: -20, search: -20, checkout: -20 },
  recovery: { next: 4, unknown: 2, 'sign-in': -3, register: -3, forgot: 5, subscribe: -20, search: -20, checkout: -20 },
};

function isBesides(kind: PageKind, { caption }: Button): boolean {
  return !canSend(caption) && !(kind === 'recovery' && caption === 'forgot');
}

const QUESTION = /[?？؟]\s*$/;
const MAX_CAPTION_WORDS = 5;

/** "Why can I not sign in?" leads elsewhere, whatever its words. */
function rateDoubt(text: string): number {
  const isLong = normalizeText(text).split(' ').length > MAX_CAPTION_WORDS;
  return (QUESTION.test(text) ? 8 : 0) + (isLong ? 2 : 0);
}

/** How well a button fits as the submit button; below zero it must not be pressed. */
function rate(button: Button, kind: PageKind, last: Field): number {
  const { element, caption, order } = button;
  if (isBesides(kind, button)) return -50;
  const isNamed = WANTED[kind]?.[caption] ?? 0;
  const isSubmit = element.type === 'submit' || element.type === 'image';
  const isPrimary = /primary|submit|main|login|signin|cta/.test(
    normalizeText(`${element.className} ${element.htmlId}`),
  );
  const form = last.element.form;
  return (
    isNamed +
    (isSubmit ? 2 : 0) +
    (isPrimary ? 0.5 : 0) +
    (form !== undefined && form !== -1 && element.form === form ? 1 : 0) +
    (order > last.order ? 1.5 : -1) -
    Math.min(Math.abs(order - last.order), 20) / 20 -
    (element.control === 'link' ? 1 : 0) -
    rateDoubt(element.text) -
    (caption === 'unknown' && element.text === '' && !isSubmit ? 3 : 0)
  );
}

/** The submit button of a section, or undefined if only Enter can submit it. */
export function findSubmit(section: Section, kind: PageKind, fields: readonly Field[]): ElementDescription | undefined {
  const last = fields.toSorted((a, b) => b.order - a.order)[0];
  if (!last) return undefined;
  const links = section.links.filter(
    ({ caption, element }) => caption === 'sign-in' && kind !== 'registration' && !/regist|forgot/.test(element.path),
  );
  const rated = [...section.buttons, ...links]
    .map((button) => ({ button, rating: rate(button, kind, last) }))
    .filter(({ rating, button }) => rating > (button.caption === 'unknown' ? 1.5 : 0))
    .toSorted((a, b) => b.rating - a.rating || a.button.order - b.button.order);
  return rated[0]?.button.element;
}
