import { decideCaption, says } from './captions.ts';
import type { ElementDescription, Observation } from './description.ts';
import { buildMatcher, normalizeText } from './match.ts';
import type { LoginLink, SignInMethod } from './login-plan.ts';
import { EMAIL, USERNAME } from './words/fields.ts';

const isName = buildMatcher({ ...EMAIL });
const isUser = buildMatcher(USERNAME);
const MAX_CAPTION = 40;
const MAX_LOGIN_LINKS = 5;
const SIGN_IN_PATH =
  /(?:^|[/_-])(?:log[-_]?in|sign[-_]?in|logon|signon|anmelden|connexion|account\/login|auth)(?:$|[/_.-])/i;

function isSeen(element: ElementDescription): boolean {
  return (element.unseen === undefined || element.unseen === 'covered') && !element.disabled;
}

/** "Continue with e-mail", "Use a password": a sign-in method that leads to a form. */
function isMethod(text: string): boolean {
  return (
    (says.password(text) || isName(text) || isUser(text)) &&
    !says.forgot(text) &&
    !says.subscribe(text) &&
    !says.otherWay(text)
  );
}

function findMethod(text: string): SignInMethod | undefined {
  if (says.code(text) || says.bareCode(text)) return 'code';
  if (says.link(text)) return 'link';
  return says.password(text) ? 'password' : undefined;
}

/** Likelihood of a login behind a link in this part of the page. */
const PLACES: Readonly<Record<string, number>> = { header: 1, nav: 1, footer: -2 };

type Rated = Omit<LoginLink, 'id'> & { rating: number };

function rate(element: ElementDescription): Rated | undefined {
  const text = normalizeText(element.text || element.ariaLabel || element.title);
  if (text.length > MAX_CAPTION || element.leaves) return undefined;
  const caption = decideCaption(element);
  const isButton = element.control === 'button';
  if (caption === 'sign-in') {
    const byPath = SIGN_IN_PATH.test(element.path) ? 2 : 0;
    const byPlace = PLACES[element.landmark] ?? 0;
    return { kind: 'sign-in', rating: 6 + byPlace + byPath + (isButton ? 1 : 0) - text.length / 20 };
  }
  const isWay = (caption === 'next' || caption === 'unknown') && isMethod(text) && text.includes(' ');
  if (isWay && isButton) {
    const method = findMethod(text);
    return { kind: 'method', rating: method === 'password' ? 5 : 4, ...(method && { method }) };
  }
  if (element.control === 'link' && SIGN_IN_PATH.test(element.path) && caption === 'unknown')
    return { kind: 'sign-in', rating: 3 };
  return undefined;
}

/** Links and buttons that may lead to a login. */
export function findLoginLinks(observation: Observation): LoginLink[] {
  const rated = observation.frames
    .flatMap(({ elements }) => elements)
    .filter((element) => (element.control === 'button' || element.control === 'link') && isSeen(element))
    .map((element) => ({ id: element.id, ...rate(element) }))
    .filter((found): found is LoginLink & Rated => found.rating !== undefined)
    .toSorted((a, b) => b.rating - a.rating);
  return rated.slice(0, MAX_LOGIN_LINKS).map(({ rating: _rating, ...opener }) => opener);
}
