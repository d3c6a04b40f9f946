import { says } from './captions.ts';
import type { ElementDescription } from './description.ts';
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
const saysPasskey = buildMatcher(PASSKEY);
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
  };
}
