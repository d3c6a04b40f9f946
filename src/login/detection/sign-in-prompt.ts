import type { FrameDescription } from './description.ts';
import { classifyFrames } from './kinds.ts';
import type { SectionVerdict } from './kinds.ts';
import { normalizeText } from './match.ts';
import type { PageKind } from './login-plan.ts';
import { isFillable, isPassword, isUsable } from './sections.ts';
import type { Field } from './sections.ts';

const FOR_OTHERS = new Set<PageKind>(['search', 'newsletter', 'checkout', 'registration', 'recovery', 'change']);
/** A page with more links is an application page, whatever small form it has. */
const MAX_LINKS = 10;
/** A button that sends a message is not a next step. */
const SENDS = /^(?:send|senden|envoyer|enviar|invia|verzenden|skicka|wyslij|отправить|gonder|发送|送信)/;

const isAsked = (field: Field) => isFillable(field) && field.element.tag === 'input' && !field.element.filled;

/** A single unknown field with a button to continue, on a page with little else: the next step of a login. */
function isStep({ section, kind, signals }: SectionVerdict): boolean {
  if (kind === 'username-first' || kind === 'password-step' || kind === 'one-time-code') return true;
  const [field, ...others] = signals.texts;
  if (field === undefined || others.length > 0 || !isAsked(field)) return false;
  if (field.role.role !== 'other' && !isPassword(field)) return false;
  const goesOn = section.buttons.some(
    ({ caption, element }) => caption === 'next' && !SENDS.test(normalizeText(element.text)),
  );
  const links = section.frame.elements.filter((element) => element.control === 'link' && isUsable(element));
  return goesOn && links.length <= MAX_LINKS;
}

function asks(verdict: SectionVerdict): boolean {
  const { section, kind, signals } = verdict;
  if (FOR_OTHERS.has(kind)) return false;
  const saysSignIn = section.buttons.some(({ caption }) => caption === 'sign-in');
  return (saysSignIn && signals.texts.some(isAsked)) || isStep(verdict);
}

/** Whether the page still prompts to sign in: for a user name, a password or an unknown field. */
export function promptsSignIn(frames: readonly FrameDescription[]): boolean {
  return classifyFrames(frames).some(asks);
}
