import type { Box, Unseen } from '../description.ts';
import { findParent, findShadowRoot } from './roots.ts';

const MIN_OPACITY = 0.1;
const MIN_PIXELS = 4;

export function measureBox(element: Element): Box {
  const { x, y, width, height } = element.getBoundingClientRect();
  return {
    x: Math.round(x + scrollX),
    y: Math.round(y + scrollY),
    width: Math.round(width),
    height: Math.round(height),
  };
}

/** Whether clipping hides the element, as the usual screen-reader class does. */
function isClippedAway(style: CSSStyleDeclaration): boolean {
  const isRectangle = /^rect\((?:[01]px,? ?){4}\)$/.test(style.clip) && /absolute|fixed/.test(style.position);
  return isRectangle || /^inset\((?:50|100)%/.test(style.clipPath);
}

type Rect = { left: number; top: number; right: number; bottom: number };

function intersect(a: Rect, b: Rect): Rect {
  return {
    left: Math.max(a.left, b.left),
    top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  };
}

/** The effect of an element and its ancestors on the visibility of their content. */
type Surroundings = {
  unseen: Unseen | undefined;
  opacity: number;
  isFixed: boolean;
  /** The part of the page that clipping boxes leave visible; they do not clip fixed elements. */
  window: Rect;
};

const EVERYTHING: Rect = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
let surroundings = new Map<Element, Surroundings>();

/** Forgets all measurements. Call it before each observation, since pages move. */
export function resetMeasurements(): void {
  surroundings = new Map();
}

function decideUnseen(element: Element, style: CSSStyleDeclaration, opacity: number): Unseen | undefined {
  const isRoot = element.tagName === 'BODY' || element.tagName === 'HTML';
  if (!isRoot && element.getAttribute('aria-hidden') === 'true') return 'set-aside';
  if (element instanceof HTMLElement && element.inert) return 'set-aside';
  if (opacity < MIN_OPACITY) return 'transparent';
  return isClippedAway(style) ? 'tiny' : undefined;
}

function cutOff(element: Element, style: CSSStyleDeclaration, window: Rect): Rect {
  if (/^(?:BODY|HTML)$/.test(element.tagName) || /^(?:inline|contents)$/.test(style.display)) return window;
  const cuts = (overflow: string) => overflow === 'hidden' || overflow === 'clip';
  if (!cuts(style.overflowX) && !cuts(style.overflowY)) return window;
  const { left, top, right, bottom } = element.getBoundingClientRect();
  const across = cuts(style.overflowX) ? { left, right } : { left: -Infinity, right: Infinity };
  const down = cuts(style.overflowY) ? { top, bottom } : { top: -Infinity, bottom: Infinity };
  return intersect(window, { ...across, ...down });
}

/** Measured once per observation and ancestor, since most elements share their ancestors. */
function measureSurroundings(element: Element): Surroundings {
  const known = surroundings.get(element);
  if (known) return known;
  const parent = findParent(element);
  const outer = parent
    ? measureSurroundings(parent)
    : { unseen: undefined, opacity: 1, isFixed: false, window: EVERYTHING };
  const style = getComputedStyle(element);
  const opacity = outer.opacity * Number(style.opacity);
  const isFixed = outer.isFixed || style.position === 'fixed';
  const measured: Surroundings = {
    unseen: outer.unseen ?? decideUnseen(element, style, opacity),
    opacity,
    isFixed,
    window: cutOff(element, style, style.position === 'fixed' ? EVERYTHING : outer.window),
  };
  surroundings.set(element, measured);
  return measured;
}

/** Whether ancestors hide an element: by their styles, by clipping, or beyond the edges of the page. */
function findUnseenByAncestors(element: Element): Unseen | undefined {
  const { unseen, isFixed } = measureSurroundings(element);
  if (unseen !== undefined) return unseen;
  const parent = findParent(element);
  const isSelfFixed = getComputedStyle(element).position === 'fixed';
  const window = parent && !isSelfFixed ? measureSurroundings(parent).window : EVERYTHING;
  const { left, top, right, bottom } = element.getBoundingClientRect();
  const rect = intersect({ left, top, right, bottom }, window);
  if (rect.right - rect.left < MIN_PIXELS || rect.bottom - rect.top < MIN_PIXELS) return 'tiny';
  const page = document.documentElement;
  const width = Math.max(page.scrollWidth, innerWidth);
  const isOutside = isFixed
    ? rect.right <= 0 || rect.bottom <= 0 || rect.left >= innerWidth || rect.top >= innerHeight
    : rect.right + scrollX <= 0 || rect.bottom + scrollY <= 0 || rect.left + scrollX >= width;
  return isOutside ? 'outside' : undefined;
}

/** The innermost element at a point, across shadow roots. */
export function findElementAt(x: number, y: number): Element | undefined {
  let found = document.elementFromPoint(x, y) ?? undefined;
  for (let depth = 0; found && depth < 20; depth += 1) {
    const inner: Element | null | undefined = findShadowRoot(found)?.elementFromPoint(x, y);
    if (!inner || inner === found) return found;
    found = inner;
  }
  return found;
}

function contains(outer: Element, inner: Element): boolean {
  for (let at: Element | undefined = inner; at; at = findParent(at)) if (at === outer) return true;
  return false;
}

const FIELDS = 'input:not([type=hidden]),select,textarea';

/** Floating labels, icons and switches may cover their own field. */
function belongsTo(hit: Element, element: Element): boolean {
  if (contains(element, hit) || contains(hit, element)) return true;
  if (hit.matches(FIELDS)) return false;
  if ('labels' in element && [...((element as HTMLInputElement).labels ?? [])].some((label) => contains(label, hit)))
    return true;
  const near = findParent(element);
  const outer = near && findParent(near);
  return [near, outer].some((around) => {
    return around !== undefined && contains(around, hit) && around.querySelectorAll(FIELDS).length <= 1;
  });
}

/** The cover over the middle of an element in the viewport; unknown for others until they are scrolled to. */
export function findCover(element: Element): Element | undefined {
  const { left, top, width, height } = element.getBoundingClientRect();
  const hits: Element[] = [];
  for (const share of [0.5, 0.2, 0.8]) {
    const x = left + width * share;
    const y = top + height / 2;
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return undefined;
    const hit = findElementAt(x, y);
    if (!hit || belongsTo(hit, element)) return undefined;
    hits.push(hit);
  }
  return hits[0];
}

/** Why a person cannot see an element; `findCover` checks for covers. */
export function findUnseen(element: Element): Unseen | undefined {
  if (!element.checkVisibility({ visibilityProperty: true })) return 'not-rendered';
  const { width, height } = element.getBoundingClientRect();
  if (width === 0 && height === 0) return 'not-rendered';
  if (width < MIN_PIXELS || height < MIN_PIXELS) return 'tiny';
  // The border of a frame does not show its content.
  const isFrame = element instanceof HTMLIFrameElement;
  if (isFrame && (element.clientWidth < MIN_PIXELS || element.clientHeight < MIN_PIXELS)) return 'tiny';
  return findUnseenByAncestors(element);
}
