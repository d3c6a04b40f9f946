import { findParent, findShadowRoot } from './roots.ts';

const MAX_TEXT = 160;
const FIELDS = 'input:not([type=hidden]),select,textarea,[contenteditable]';

export function trimText(text: string | null | undefined, most = MAX_TEXT): string {
  return (text ?? '')
    .slice(0, most * 8)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, most);
}

/** The visible text of an element, or of its shadow root where it has none. */
export function readText(element: Element, most = MAX_TEXT): string {
  const shown = element instanceof HTMLElement ? element.innerText : element.textContent;
  const own = trimText(shown, most);
  return own === '' ? trimText(findShadowRoot(element)?.textContent, most) : own;
}

/** The text of a control: its own, else the alternative text of pictures, or a title. */
export function readCaption(element: Element): string {
  if (element instanceof HTMLInputElement) return trimText(element.value || element.alt);
  const text = readText(element);
  if (text !== '') return text;
  const picture = element.querySelector('img[alt],svg[aria-label],[title],svg title');
  return trimText(picture?.getAttribute('alt') ?? picture?.getAttribute('aria-label') ?? picture?.textContent);
}

function readLabelElement(label: Element): string {
  // A select inside a label would add all its options.
  const copy = label.cloneNode(true) as Element;
  for (const inner of copy.querySelectorAll('select,textarea,script,style,[contenteditable]')) inner.remove();
  return trimText(copy.textContent);
}

function findById(element: Element, id: string): Element | null {
  const root = element.getRootNode();
  return root instanceof Document || root instanceof ShadowRoot ? root.getElementById(id) : null;
}

export function readReferences(element: Element, attribute: string): string {
  const ids = element.getAttribute(attribute)?.split(/\s+/) ?? [];
  return trimText(ids.map((id) => (id === '' ? '' : (findById(element, id)?.textContent ?? ''))).join(' '));
}

/** The text of a node; undefined when it contains a field. */
function readPlain(node: Node): string | undefined {
  if (node instanceof Text) return trimText(node.data);
  if (!(node instanceof Element)) return '';
  if (node.matches(FIELDS) || node.querySelector(FIELDS)) return undefined;
  if (node.matches('script,style,noscript,template,svg,button,a')) return '';
  return trimText(node.textContent);
}

/** The text right before a field, in its row or above it, up to the previous field. */
function readTextBefore(element: Element): string {
  let node: Element | undefined = element;
  for (let level = 0; level < 4 && node && node.tagName !== 'FORM' && node.tagName !== 'BODY'; level += 1) {
    for (let before: Node | null = node.previousSibling; before; before = before.previousSibling) {
      const text = readPlain(before);
      if (text === undefined) return '';
      if (text !== '') return text.length <= 80 ? text : '';
    }
    node = findParent(node);
  }
  return '';
}

export function readLabel(element: Element): string {
  const labels = 'labels' in element ? [...((element as HTMLInputElement).labels ?? [])] : [];
  const text = labels.map(readLabelElement).filter(Boolean).join(' ');
  if (text !== '') return trimText(text);
  const { id } = element;
  if (id !== '') {
    const root = element.getRootNode() as Document | ShadowRoot;
    const label = root.querySelector(`label[for="${CSS.escape(id)}"]`);
    if (label) return readLabelElement(label);
  }
  return readReferences(element, 'aria-labelledby') || readTextBefore(element);
}
