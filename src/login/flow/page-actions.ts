import type { ElementHandle, Frame, Page } from 'playwright-core';
import { CapstanError } from '../../platform/errors.ts';
import type { CauseOptions } from '../../platform/errors.ts';
import { findElement, findFrame } from '../detection/observe.ts';
import type { PlannedField } from '../detection/login-plan.ts';
import { LoginError } from '../login-error.ts';
import type { Site } from '../site.ts';
import { typeKeys } from './keys.ts';

/** Long enough for a busy machine: after a timeout Enter follows, and a late click would submit twice. */
const ACTION_MS = 8000;

/** An element has left the page or cannot be used: observe the page again. */
export class StaleElementError extends CapstanError<'stale_element'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('stale_element', message, { ...options, retryable: true });
  }
}

/** Messages of the SDK for a document or element that no longer exists. */
const MOVED_ON = /context was destroyed|cannot find context|not attached|was detached|because of a navigation/i;

/** Whether the page changed while it was acted on: observe it again. */
export function isStale(error: unknown): boolean {
  if (error instanceof StaleElementError) return true;
  return error instanceof Error && (error.name === 'TimeoutError' || MOVED_ON.test(error.message));
}

/** For actions that are never repeated: ignores that the page changed, and rethrows other errors. */
export function ignoreStale(error: unknown): void {
  if (!isStale(error)) throw error;
}

export async function withElement<T>(page: Page, id: string, use: (element: ElementHandle) => Promise<T>): Promise<T> {
  const element = await findElement(page, id);
  if (element === undefined) throw new StaleElementError('the element has left the page');
  try {
    return await use(element);
  } finally {
    element.dispose().catch(() => undefined);
  }
}

/** Presses a button or link as a person would: scrolled into view, uncovered, with real pointer events. */
export function press(page: Page, id: string): Promise<void> {
  return withElement(page, id, (element) => element.click({ timeout: ACTION_MS, noWaitAfter: true }));
}

/** Documents without a URL of their own count as their parent. */
function listAddresses(frame: Frame): string[] {
  const addresses: string[] = [];
  for (let at: Frame | null = frame; at !== null; at = at.parentFrame()) {
    if (at.parentFrame() === null || !at.url().startsWith('about:')) addresses.push(at.url());
  }
  return addresses;
}

/** The part of a DOM element that is used here: Node.js has no DOM types. */
type Node = {
  form?: { getAttribute(name: string): string | null } | null;
  baseURI: string;
  isConnected: boolean;
  ownerDocument: unknown;
  value?: string;
  textContent: string | null;
  focus(): void;
  getRootNode(): { activeElement: unknown };
  scrollIntoView(options: object): void;
};

/** The state of a field: the target of its form, its value, and whether it has the focus. */
type FieldState = { target: string | undefined; held: string; focused: boolean };

/** Runs in the page. Undefined when the element was removed or moved to another document. */
function readField(element: unknown, focus: boolean): FieldState | undefined {
  const node = element as Node;
  if (!node.isConnected || node.ownerDocument !== (globalThis as unknown as { document: unknown }).document) return;
  const action = node.form?.getAttribute('action') ?? '';
  const target = action === '' || /^\s*javascript:/i.test(action) ? undefined : new URL(action, node.baseURI).href;
  if (focus) {
    node.scrollIntoView({ block: 'center', behavior: 'instant' });
    node.focus();
  }
  const focused = node.getRootNode().activeElement === node;
  return { target, held: node.value ?? node.textContent ?? '', focused };
}

/**
 * Checks the destination of typed text: the page, each frame around the element, and the target of the form. Throws
 * `unsafe_domain` unless all of them belong to the site. `focus`: scrolls to the element and focuses it.
 */
async function checkTarget(
  site: Site,
  { frame, element }: { frame: Frame | undefined; element: ElementHandle },
  focus: boolean,
): Promise<FieldState> {
  const state = await element.evaluate(readField, focus);
  if (frame === undefined || state === undefined) throw new StaleElementError('the element has left the page');
  const { target } = state;
  const addresses = [...listAddresses(frame), ...(target === undefined ? [] : [target])];
  if (!addresses.every((address) => site.allows(address))) {
    throw new LoginError('unsafe_domain', 'The form belongs to another site, or sends to one.', {
      details: { reason: 'cross_site_form' },
    });
  }
  return state;
}

/**
 * Types with real key events, replaces the old value, and reads the new one back. The site is checked
 * right before.
 * Throws `unsafe_domain`, or `StaleElementError` when the field does not accept the text.
 */
export function typeInto(
  page: Page,
  site: Site,
  { id, text, exact }: { id: string; text: string; exact: boolean },
): Promise<void> {
  return withElement(page, id, async (element) => {
    const frame = findFrame(page, id);
    const { held, focused } = await checkTarget(site, { frame, element }, true);
    if (held !== '') {
      await element.press('ControlOrMeta+a', { timeout: ACTION_MS });
      await element.press('Delete', { timeout: ACTION_MS });
      if ((await readValue(element)) !== '') await element.fill('', { timeout: ACTION_MS });
    }
    // Without the focus, keys would go to another element.
    if (focused && frame !== undefined) {
      await typeKeys({ page, frame }, element, text);
      if (!exact || (await readValue(element)) === text) return;
    }
    // Scripts that format the input may have lost a key.
    await checkTarget(site, { frame, element }, false);
    await element.fill(text, { timeout: ACTION_MS });
    if (exact && (await readValue(element)) !== text) {
      throw new StaleElementError('the field does not accept the text');
    }
  });
}

/** The text that a field holds. */
export function readValue(element: ElementHandle): Promise<string> {
  return element.evaluate((node) => {
    const { value, textContent } = node as unknown as Node;
    return value ?? textContent ?? '';
  });
}

export function pressEnter(page: Page, id: string): Promise<void> {
  return withElement(page, id, (element) => element.press('Enter', { timeout: ACTION_MS, noWaitAfter: true }));
}

/** Sets an additional field of the caller. Throws `validation_error` when a list lacks the value. */
export async function setField(
  page: Page,
  site: Site,
  field: PlannedField,
  value: string | number | boolean,
): Promise<void> {
  if (field.control === 'field') return typeInto(page, site, { id: field.id, text: String(value), exact: false });
  await withElement(page, field.id, async (element) => {
    await checkTarget(site, { frame: findFrame(page, field.id), element }, false);
    if (field.control === 'select') return choose(element, String(value), field.names[0] ?? '');
    const wanted = typeof value === 'boolean' ? value : !/^(false|no|off|0|)$/i.test(String(value));
    await element.setChecked(wanted, { timeout: ACTION_MS, force: true });
  });
}

async function choose(element: ElementHandle, value: string, name: string): Promise<void> {
  const options = await element.evaluate((node) =>
    Array.from((node as unknown as { options: ArrayLike<{ value: string; text: string }> }).options, (option) => ({
      value: option.value,
      text: option.text.trim(),
    })),
  );
  const wanted = value.trim().toLowerCase();
  const found =
    options.find((option) => option.value === value) ??
    options.find((option) => option.text.toLowerCase() === wanted || option.value.toLowerCase() === wanted);
  if (found === undefined) {
    throw new LoginError('validation_error', 'additionalFields: a list of the form does not have the value.', {
      details: { reason: 'no_such_option', field: name },
    });
  }
  await element.selectOption({ value: found.value }, { timeout: ACTION_MS });
}
