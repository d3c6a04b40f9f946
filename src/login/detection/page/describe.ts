// Tests: test/login/detection
import type {
  Control,
  CoverDescription,
  ElementDescription,
  FormDescription,
  FrameDescription,
} from '../description.ts';
import { findParent, wasPassword, walkElements } from './roots.ts';
import { classifyControl } from './controls.ts';
import { readCaption, readLabel, readReferences, readText, trimText } from './texts.ts';
import { resetMeasurements, findCover, findUnseen, measureBox } from './visibility.ts';

const MAX_ELEMENTS = 1500;
const MAX_FIELDS = 400;
const MAX_CONTAINERS = 40;
const MAX_PAGE_TEXT = 4000;

/** Elements keep their number for life, so that a plan stays valid after later observations. */
const numbers = new WeakMap<Element, number>();
const elements = new Map<number, WeakRef<Element>>();
let last = 0;

function getNumber(element: Element): number {
  let number = numbers.get(element);
  if (number === undefined) {
    number = ++last;
    numbers.set(element, number);
    elements.set(number, new WeakRef(element));
  }
  return number;
}

export function findNumbered(number: number): Element | undefined {
  const element = elements.get(number)?.deref();
  return element?.isConnected ? element : undefined;
}

function listContainers(element: Element): Element[] {
  const found: Element[] = [];
  for (let at = findParent(element); at && found.length < MAX_CONTAINERS; at = findParent(at)) found.push(at);
  return found;
}

const LANDMARKS: Readonly<Record<string, string>> = {
  DIALOG: 'dialog',
  HEADER: 'header',
  NAV: 'nav',
  FOOTER: 'footer',
  SEARCH: 'search',
  ASIDE: 'aside',
};
const LANDMARK_ROLES: Readonly<Record<string, string>> = {
  dialog: 'dialog',
  alertdialog: 'dialog',
  banner: 'header',
  navigation: 'nav',
  contentinfo: 'footer',
  search: 'search',
  complementary: 'aside',
};

function findLandmark(containers: readonly Element[]): string {
  for (const container of containers) {
    const found = LANDMARK_ROLES[container.getAttribute('role') ?? ''] ?? LANDMARKS[container.tagName];
    if (found) return found;
    if (container.getAttribute('aria-modal') === 'true') return 'dialog';
  }
  return '';
}

const COLLAPSED =
  /(?:^|[-_\s])(?:hidden|hide|modal|popup|popin|dropdown|offcanvas|off-canvas|flyout|drawer|lightbox|overlay|dialog|collapse)(?:$|[-_\s])/i;
const OPENED = /(?:^|[-_\s])(?:open|opened|show|shown|active|visible|in|expanded|is-open)(?:$|[-_\s])/i;

function isCollapsed(containers: readonly Element[]): boolean {
  return containers.some((container) => {
    if (container.tagName === 'BODY' || container.tagName === 'HTML') return false;
    const names = `${container.id} ${container.getAttribute('class') ?? ''}`;
    return COLLAPSED.test(names) && !OPENED.test(names);
  });
}

function readPath(address: string | null): string {
  if (!address) return '';
  try {
    const url = new URL(address, document.baseURI);
    return /^https?:$/.test(url.protocol) ? trimText(url.pathname + (url.hash.startsWith('#/') ? url.hash : '')) : '';
  } catch {
    return '';
  }
}

const MASKING_FONT = /text-?security|password|dotsfont/i;

/** Whether the style hides typed text as dots. */
function isMasked(element: Element): boolean {
  if (!(element instanceof HTMLInputElement) || !/^(?:text|tel|number)$/.test(element.type)) return false;
  const style = getComputedStyle(element);
  const security = style.getPropertyValue('-webkit-text-security');
  return (security !== '' && security !== 'none') || MASKING_FONT.test(style.fontFamily);
}

/** Whether it was a password field before or looks like one. */
function hidesText(element: Element): boolean {
  return wasPassword(element) || isMasked(element);
}

function leavesSite(element: Element): boolean {
  if (!(element instanceof HTMLAnchorElement) || !element.hasAttribute('href')) return false;
  if (/^javascript:|^#/.test(element.getAttribute('href') ?? '')) return false;
  return !/^https?:$/.test(element.protocol);
}

const DATA_ATTRIBUTES = [
  'data-testid',
  'data-test',
  'data-test-id',
  'data-qa',
  'data-cy',
  'data-id',
  'formcontrolname',
  'ng-model',
  'data-action',
];

function readDataAttributes(element: Element): string {
  return trimText(DATA_ATTRIBUTES.map((name) => element.getAttribute(name) ?? '').join(' '));
}

function readAttribute(element: Element, name: string): string {
  return trimText(element.getAttribute(name));
}

function isFilled(element: Element): boolean {
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) return element.value !== '';
  return element instanceof HTMLElement && element.isContentEditable && element.textContent.trim() !== '';
}

function readType(element: Element): string {
  if (element instanceof HTMLInputElement || element instanceof HTMLButtonElement) return element.type;
  return '';
}

function readTarget(element: Element): string {
  if (element instanceof HTMLIFrameElement || element instanceof HTMLImageElement) {
    const address = trimText(element.src.replace(/[?#].*$/s, ''));
    return address.startsWith('data:') ? '' : address;
  }
  return readPath(element.getAttribute('href') ?? element.getAttribute('formaction'));
}

function readStates(element: Element) {
  const input = element as Partial<HTMLInputElement>;
  const isSet = (name: string) => element.getAttribute(`aria-${name}`) === 'true';
  return {
    required: input.required === true || isSet('required'),
    readOnly: input.readOnly === true || isSet('readonly'),
    disabled: element.matches(':disabled') || isSet('disabled'),
    checked: input.checked === true || isSet('checked'),
  };
}

/** What shows whether an element is there: a check that is not drawn yet has no box of its own. */
function findShown(element: Element, control: Control): Element {
  const isPlace = control === 'captcha' && element.hasAttribute('data-sitekey');
  return (isPlace ? element.parentElement : undefined) ?? element;
}

function describeElement(
  element: Element,
  control: Control,
  frame: string,
  forms: readonly HTMLFormElement[],
): { description: ElementDescription; cover: Element | undefined } {
  const containers = listContainers(element);
  const isField = control === 'field' || control === 'select' || control === 'checkbox' || control === 'radio';
  const unseen = findUnseen(findShown(element, control));
  const cover = unseen === undefined && control !== 'message' && control !== 'heading' ? findCover(element) : undefined;
  const input = element as Partial<HTMLInputElement>;
  const form = input.form ?? element.closest('form');
  const hasText = control === 'message' || control === 'heading';
  const description: ElementDescription = {
    id: `${frame}.${getNumber(element)}`,
    control,
    tag: element.tagName.toLowerCase(),
    type: readType(element),
    role: readAttribute(element, 'role'),
    autocomplete: readAttribute(element, 'autocomplete').toLowerCase().split(' ').filter(Boolean),
    name: readAttribute(element, 'name'),
    htmlId: trimText(element.id),
    className: readAttribute(element, 'class'),
    marks: readDataAttributes(element),
    label: isField ? readLabel(element) : '',
    ariaLabel: readAttribute(element, 'aria-label') || (isField ? '' : readReferences(element, 'aria-labelledby')),
    placeholder: readAttribute(element, 'placeholder') || readAttribute(element, 'aria-placeholder'),
    title: readAttribute(element, 'title'),
    text: isField ? '' : hasText ? readText(element, 300) : readCaption(element),
    inputMode: readAttribute(element, 'inputmode'),
    maxLength: input.maxLength ?? -1,
    pattern: readAttribute(element, 'pattern'),
    ...readStates(element),
    filled: isField && isFilled(element),
    wasPassword: hidesText(element),
    untabbable: Number(element.getAttribute('tabindex') ?? 0) < 0,
    focused: (element.getRootNode() as Document | ShadowRoot).activeElement === element,
    path: readTarget(element),
    leaves: leavesSite(element),
    unseen: cover ? 'covered' : unseen,
    coveredBy: undefined,
    box: measureBox(element),
    form: form ? forms.indexOf(form) : undefined,
    containers: containers.map(getNumber),
    collapsed: isCollapsed(containers),
    landmark: findLandmark(containers),
  };
  return { description, cover };
}

function describeForm(form: HTMLFormElement): FormDescription {
  const action = form.getAttribute('action');
  let url: URL | undefined;
  try {
    url = new URL(action ?? '', document.baseURI);
  } catch {
    // A form with an invalid action submits to its own page.
  }
  const isAway = url !== undefined && /^https?:$/.test(url.protocol) && url.origin !== location.origin;
  return {
    htmlId: trimText(form.getAttribute('id')),
    name: readAttribute(form, 'name'),
    className: readAttribute(form, 'class'),
    label: readAttribute(form, 'aria-label') || readReferences(form, 'aria-labelledby'),
    role: readAttribute(form, 'role'),
    path: readPath(action),
    method: readAttribute(form, 'method').toLowerCase(),
    actionHost: isAway && url ? url.host : '',
    downgraded: location.protocol === 'https:' && url?.protocol === 'http:',
  };
}

/** The outermost container of a cover that does not contain the covered element. */
function findCoverRoot(cover: Element, covered: Element): Element {
  const around = new Set(listContainers(covered));
  let root = cover;
  for (let at = findParent(cover); at && !around.has(at); at = findParent(at)) root = at;
  return root;
}

function describeCover(root: Element, frame: string): CoverDescription {
  return {
    container: getNumber(root),
    id: `${frame}.${getNumber(root)}`,
    role: readAttribute(root, 'role'),
    marks: trimText(`${root.id} ${readAttribute(root, 'class')} ${readAttribute(root, 'aria-label')}`),
    text: readText(root, 300),
    box: measureBox(root),
  };
}

/** Describes everything on this page that a person could use, in tree order. */
export function describeFrame(frame: string): FrameDescription {
  resetMeasurements();
  const found: ElementDescription[] = [];
  const forms: HTMLFormElement[] = [];
  const covers = new Map<number, CoverDescription>();
  let fields = 0;
  let others = 0;
  const root = document.documentElement;
  for (const element of walkElements(root)) {
    if (element instanceof HTMLFormElement) forms.push(element);
    const control = classifyControl(element);
    if (control === undefined) continue;
    const isField = control === 'field' || control === 'select' || control === 'checkbox' || control === 'radio';
    if (isField ? ++fields > MAX_FIELDS : ++others > MAX_ELEMENTS) continue;
    const { description, cover } = describeElement(element, control, frame, forms);
    if (cover) {
      const top = findCoverRoot(cover, element);
      description.coveredBy = getNumber(top);
      covers.set(description.coveredBy, covers.get(description.coveredBy) ?? describeCover(top, frame));
    }
    found.push(description);
  }
  return {
    frame,
    host: location.host,
    timeOrigin: performance.timeOrigin,
    loaded: document.readyState === 'complete',
    path: trimText(location.pathname + (location.hash.startsWith('#/') ? location.hash : '')),
    title: trimText(document.title),
    language: trimText(root.lang).toLowerCase(),
    elements: found,
    forms: forms.map(describeForm),
    covers: [...covers.values()],
    text: trimText(document.body?.innerText, MAX_PAGE_TEXT),
    cut: fields > MAX_FIELDS || others > MAX_ELEMENTS,
  };
}
