import type { Control } from '../description.ts';
import { findParent } from './roots.ts';

const BUTTON_TYPES = new Set(['submit', 'button', 'image', 'reset']);
const NO_FIELDS = new Set(['hidden', 'file', 'range', 'color']);
const ROLES: Readonly<Record<string, Control>> = {
  button: 'button',
  link: 'link',
  menuitem: 'button',
  tab: 'button',
  textbox: 'field',
  searchbox: 'field',
  checkbox: 'checkbox',
  switch: 'checkbox',
  heading: 'heading',
  alert: 'message',
  status: 'message',
};
const CAPTCHA =
  /recaptcha|hcaptcha|turnstile|challenges\.cloudflare|arkoselabs|funcaptcha|geetest|datadome|captcha-delivery|friendlycaptcha|smartcaptcha|captcha/i;
const MESSAGE =
  /(?:^|[-_\s])(?:errors?|alerts?|invalid|warnings?|messages?|msg|feedback|notice|notification|toast|flash|fail(?:ed|ure)?|danger|hint-error|info)(?:$|[-_\s\d])|error(?:message|text|msg)/i;
const PRESSED = /(?:^|[-_\s])(?:btn|button|submit|log-?in|sign-?in)(?:$|[-_\s])/i;
const INTERACTIVE = 'a[href],button,input,select,textarea,[role=button]';
const MAX_PRESSED_TEXT = 60;
const MAX_MESSAGE = 300;

function classifyInput(input: HTMLInputElement): Control | undefined {
  if (NO_FIELDS.has(input.type)) return undefined;
  if (BUTTON_TYPES.has(input.type)) return 'button';
  if (input.type === 'checkbox' || input.type === 'radio') return input.type;
  return 'field';
}

function classifyCaptcha(element: Element): Control | undefined {
  const source = element.getAttribute('src') ?? '';
  const names = [element.id, element.getAttribute('name'), element.getAttribute('title'), element.className].join(' ');
  // A badge requires no action.
  if (/size=invisible/.test(source)) return undefined;
  return CAPTCHA.test(`${source} ${names}`) ? 'captcha' : undefined;
}

const PROOF = 'textarea[name$=-response],input[name$=-response]';

/** The place of a check that its vendor's script fills: still without proof, and without a frame that says more. */
function isOpenCheck(element: Element): boolean {
  if (!(element instanceof HTMLDivElement) && !(element instanceof HTMLSpanElement)) return false;
  if (!element.hasAttribute('data-sitekey') || element.getAttribute('data-size') === 'invisible') return false;
  if (!CAPTCHA.test(`${element.className} ${element.id}`) || element.querySelector('iframe')) return false;
  const proof = element.querySelector<HTMLInputElement | HTMLTextAreaElement>(PROOF);
  return (proof?.value ?? '') === '';
}

const MAX_TEXT_NODES = 60;

/** Whether there is text of at most `most` characters. Longer text is not read to its end. */
function isShort(element: Element, most: number): boolean {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let length = 0;
  for (let nodes = 0; nodes < MAX_TEXT_NODES; nodes += 1) {
    const text = walker.nextNode();
    if (text === null) return length > 0;
    length += (text as Text).data.trim().length;
    if (length > most) return false;
  }
  return false;
}

/** Styled text that handles clicks: neither a button nor a link. */
function isClickable(element: Element): boolean {
  if (!(element instanceof HTMLElement) || element.querySelector(INTERACTIVE) || element.closest(INTERACTIVE))
    return false;
  const attributes = ['onclick', 'ng-click', '@click', 'v-on:click', 'data-action', 'jsaction', 'data-testid'];
  const isNamed = PRESSED.test(`${element.className} ${element.id}`) || element.tagName.includes('BUTTON');
  const hasSign = isNamed || element.tabIndex >= 0 || attributes.some((name) => element.hasAttribute(name));
  if (!isShort(element, MAX_PRESSED_TEXT)) return isNamed && element.tagName.includes('-BUTTON');
  if (hasSign) return true;
  // The outermost element with a pointer cursor: its children inherit it.
  if (getComputedStyle(element).cursor !== 'pointer' || element.tagName === 'LABEL') return false;
  const parent = findParent(element);
  return !parent || getComputedStyle(parent).cursor !== 'pointer' || !isShort(parent, MAX_PRESSED_TEXT);
}

function isRed(element: Element): boolean {
  const [red = 0, green = 0, blue = 0] = (getComputedStyle(element).color.match(/\d+/g) ?? []).map(Number);
  return red > 150 && green < 90 && blue < 90;
}

function isMessage(element: Element): boolean {
  if (!isShort(element, MAX_MESSAGE) || element.querySelector('input,select,textarea')) return false;
  if (element.getAttribute('aria-live') === 'assertive' || element.getAttribute('aria-live') === 'polite') return true;
  if (typeof element.className === 'string' && MESSAGE.test(`${element.className} ${element.id}`)) return true;
  return element.childElementCount === 0 && isRed(element);
}

/** Elements without a native control: by role, heading or editing, else by appearance. */
function classifyOther(element: Element): Control | undefined {
  if (isOpenCheck(element)) return 'captcha';
  const role = element.getAttribute('role') ?? '';
  if (Object.hasOwn(ROLES, role)) return ROLES[role];
  if (/^(?:H[1-6]|LEGEND)$/.test(element.tagName)) return 'heading';
  if (element.tagName === 'SUMMARY') return 'button';
  if (element instanceof HTMLElement && element.isContentEditable && element.hasAttribute('contenteditable'))
    return 'field';
  if (isMessage(element)) return 'message';
  return isClickable(element) ? 'button' : undefined;
}

function classifyAnchor(element: HTMLAnchorElement): Control {
  const role = element.getAttribute('role');
  return role === 'button' || role === 'tab' || !element.hasAttribute('href') ? 'button' : 'link';
}

/** The kind of control, or undefined if a person could neither use the element nor learn anything from it. */
export function classifyControl(element: Element): Control | undefined {
  if (element instanceof HTMLInputElement) return classifyInput(element);
  if (element instanceof HTMLSelectElement) return 'select';
  if (element instanceof HTMLTextAreaElement) return 'field';
  if (element instanceof HTMLButtonElement) return 'button';
  if (element instanceof HTMLIFrameElement || element instanceof HTMLImageElement) return classifyCaptcha(element);
  return element instanceof HTMLAnchorElement ? classifyAnchor(element) : classifyOther(element);
}
