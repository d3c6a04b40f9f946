import { says } from './captions.ts';
import type { ElementDescription, Observation } from './description.ts';
import { buildMatcher, normalizeText } from './match.ts';
import type { OutcomeSignals } from './login-plan.ts';
import { isUsable } from './sections.ts';
import { PASSKEY, SSO } from './words/more-interstitials.ts';

/** Services that sites let people sign in with, by the words of a button or by its address. */
const PROVIDERS: readonly [name: string, pattern: RegExp][] = [
  ['google', /\bgoogle\b/],
  ['github', /\bgithub\b/],
  ['gitlab', /\bgitlab\b/],
  ['microsoft', /\bmicrosoft\b|\bazure\b|\bentra\b|\boffice ?365\b/],
  ['apple', /\bapple\b/],
  ['facebook', /\bfacebook\b/],
  ['twitter', /\btwitter\b|\b(?:with|mit|avec|con|com) x\b/],
  ['linkedin', /\blinkedin\b/],
  ['amazon', /\bamazon\b/],
  ['okta', /\bokta\b/],
  ['auth0', /\bauth0\b/],
  ['slack', /\bslack\b/],
  ['discord', /\bdiscord\b/],
  ['bitbucket', /\bbitbucket\b|\batlassian\b/],
  ['yahoo', /\byahoo\b/],
  ['keycloak', /\bkeycloak\b/],
  ['openid', /\bopenid\b|\boidc\b/],
];
const saysSso = buildMatcher(SSO);
/** Whether a normalized text names a passkey or a security key. */
export const saysPasskey = buildMatcher(PASSKEY);
const MAX_CAPTION = 60;
/** The service behind the button, if its words are the name of a service and nothing else. */
const SIGN_IN_ADDRESS = /oauth|openid|oidc|saml|sso|\/auth|login|signin|sign_in|connect/i;

/** The caption of a button or link that may sign in by another method; empty for others. */
function readCaption(element: ElementDescription): string {
  if ((element.control !== 'button' && element.control !== 'link') || !isUsable(element)) return '';
  if (element.landmark === 'footer') return '';
  const text = normalizeText(element.text || element.ariaLabel || element.title);
  return text.length > MAX_CAPTION ? '' : text;
}

function leadsToSignIn({ control, path }: ElementDescription, text: string): boolean {
  if (control === 'button') return true;
  return says.signIn(text) || says.otherWay(text) || says.next(text) || SIGN_IN_ADDRESS.test(path);
}

/** Buttons and links that sign in by another service or a passkey. Names of services are lower case. */
export function findOtherMethods(elements: readonly ElementDescription[]): OutcomeSignals['otherWays'] {
  const captions = elements
    .map((element) => ({ element, text: readCaption(element) }))
    .filter(({ text }) => text !== '');
  const leading = captions.filter(({ element, text }) => leadsToSignIn(element, text)).map(({ text }) => text);
  const named = PROVIDERS.filter(([, pattern]) => leading.some((text) => pattern.test(text))).map(([name]) => name);
  return {
    providers: leading.some(saysSso) ? [...named, 'sso'] : named,
    passkey: captions.some(({ text }) => saysPasskey(text)),
    passkeyButton: findPasskeyButton(captions)?.id,
  };
}

type Captioned = { element: ElementDescription; text: string };

/** The button that signs in by a passkey; one that says so comes first. */
function findPasskeyButton(captions: readonly Captioned[]): ElementDescription | undefined {
  const named = captions.filter(
    ({ element, text }) =>
      saysPasskey(text) &&
      leadsToSignIn(element, text) &&
      !says.forgot(text) &&
      !(says.register(text) && !says.signIn(text)),
  );
  return (named.find(({ text }) => says.signIn(text)) ?? named[0])?.element;
}

const captionOf = ({ text, ariaLabel, title }: ElementDescription) => normalizeText(text || ariaLabel || title);

type ProviderName = { name: string; label: string | undefined };

/** Whether a normalized text names the service: by the words of the caller, else by its name. */
function buildNames({ name, label }: ProviderName): (text: string) => boolean {
  const pattern = label === undefined ? PROVIDERS.find(([known]) => known === name)?.[1] : undefined;
  const wanted = normalizeText(label ?? name);
  return (text) => (pattern === undefined ? ` ${text} `.includes(` ${wanted} `) : pattern.test(text));
}

function mayBePressed({ control, unseen, landmark }: ElementDescription): boolean {
  if (control !== 'button' && control !== 'link') return false;
  return (unseen === undefined || unseen === 'covered') && landmark !== 'footer';
}

/** How likely a button is that of the service; 0: it is not. By its text first, then by its names. */
function rateButton(element: ElementDescription, { name, label }: ProviderName): number {
  const text = captionOf(element);
  if (!mayBePressed(element) || text.length > MAX_CAPTION) return 0;
  const names = buildNames({ name, label });
  const penalty = says.register(text) && !says.signIn(text) ? 1 : 0;
  if (names(text) && (label !== undefined || leadsToSignIn(element, text))) return 4 - penalty;
  const { path, className, htmlId, marks } = element;
  const leads = element.control === 'button' || SIGN_IN_ADDRESS.test(path);
  if (leads && names(normalizeText(`${path} ${className} ${htmlId} ${marks} ${element.name}`))) return 2 - penalty;
  const isKnown = PROVIDERS.some(([known]) => known === name);
  return !isKnown && label === undefined && saysSso(text) ? 1 : 0;
}

/** The button of a service among those of a page. */
export function findProviderButton(
  frames: Observation['frames'],
  wanted: ProviderName,
): ElementDescription | undefined {
  const rated = frames
    .flatMap(({ elements }) => elements)
    .map((element) => ({ element, rating: rateButton(element, wanted) }))
    .filter(({ rating }) => rating > 0);
  return rated.toSorted((left, right) => right.rating - left.rating)[0]?.element;
}
