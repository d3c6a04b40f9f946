// Tests: test/login/page-shapes.test.ts
import { decideCaption, says } from '../detection/captions.ts';
import { planLogin } from '../detection/classify.ts';
import type { ElementDescription, Observation } from '../detection/description.ts';
import { findLoginLinks } from '../detection/login-links.ts';
import { buildMatcher, normalizeText } from '../detection/match.ts';
import { readMessageCause, readOutcome } from '../detection/outcome-signals.ts';
import { GREETING, HELP } from '../detection/words/greetings.ts';
import { hasLoginForm } from './evidence.ts';

const greets = buildMatcher(GREETING);
const helps = buildMatcher(HELP);

const MAX_CAPTION = 30;
/** In pixels: controls at this distance from the top, and from one another, are in one bar. */
const TOP = 200;
const SAME_ROW = 40;

const captionOf = ({ text, ariaLabel, title }: ElementDescription) => normalizeText(text || ariaLabel || title);
const isSeen = ({ unseen, collapsed }: ElementDescription) => unseen === undefined && !collapsed;
const isClickable = ({ control }: ElementDescription) => control === 'link' || control === 'button';
const listElements = ({ frames }: Observation) => frames.flatMap(({ elements }) => elements);
const readText = ({ frames }: Observation) => normalizeText(frames.map(({ text }) => text).join(' '));

/** Whether a page shows a form to sign in. */
export function showsForm(observation: Observation): boolean {
  return hasLoginForm({ plan: planLogin(observation), signals: readOutcome(observation) });
}

/** The links and buttons of a page that lead to a login. */
export function listOffers(observation: Observation): ElementDescription[] {
  const ids = new Set(findLoginLinks(observation).flatMap(({ id, kind }) => (kind === 'sign-in' ? [id] : [])));
  return listElements(observation).filter(({ id }) => ids.has(id));
}

/** A name or a picture in the bar from which the offer to sign in has gone. Words that mean something else are none. */
function isInPlaceOf(offers: readonly ElementDescription[], element: ElementDescription): boolean {
  const caption = captionOf(element);
  const isPlain = decideCaption(element) === 'unknown' && !says.code(caption) && !says.password(caption);
  if (caption.length > MAX_CAPTION || !isPlain || helps(caption) || readMessageCause(caption) !== undefined)
    return false;
  return offers.some(
    ({ box, landmark }) =>
      box.y < TOP && landmark === element.landmark && Math.abs(box.y - element.box.y) < SAME_ROW && element.box.y < TOP,
  );
}

/** A control of the member's page that marks the account, and is not on the page of strangers. */
function hasNewControl(member: Observation, stranger: Observation): boolean {
  const [own, theirs] = [readOutcome(member), readOutcome(stranger)];
  const known = new Set(listElements(stranger).filter(isClickable).map(captionOf));
  const controls = listElements(member).filter(isClickable);
  const isNew = (id: string | undefined) => {
    const found = controls.find((element) => element.id === id);
    return found !== undefined && captionOf(found) !== '' && !known.has(captionOf(found));
  };
  if (isNew(own.logout) || isNew(own.account)) return true;
  if (own.account !== undefined && theirs.account === undefined) return true;
  const offers = listOffers(stranger).filter(isSeen);
  return controls.some((element) => isSeen(element) && isNew(element.id) && isInPlaceOf(offers, element));
}

function greetsMember(member: Observation, stranger: Observation): boolean {
  const [own, theirs] = [readText(member), readText(stranger)];
  return greets(own) && !greets(theirs) && !says.guest(own);
}

/**
 * Whether a page that everybody may see treats its visitor as a member: it offers strangers to sign in, does not offer
 * it to the member, and shows the member a greeting or the menu of an account instead. Pure.
 */
export function isMemberView(member: Observation, stranger: Observation): boolean {
  if (listOffers(stranger).length === 0 || listOffers(member).length > 0 || showsForm(member)) return false;
  if (readOutcome(member).failures.some(({ aside }) => !aside)) return false;
  return hasNewControl(member, stranger) || greetsMember(member, stranger);
}
