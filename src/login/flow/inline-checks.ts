import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { LoginPlan } from '../detection/login-plan.ts';
import type { Site } from '../site.ts';
import { fillCredentials } from './fill.ts';
import type { Values } from './fill.ts';
import { StaleElementError, ignoreStale, readValue, withElement } from './page-actions.ts';
import type { ObservedPage } from './page-observer.ts';
import type { Traffic } from './traffic.ts';

/** ms after the last key in which scripts check a field, unless the page declares a delay */
const USUAL_DELAY_MS = 600;
const MAX_DELAY_MS = 2000;
/** ms by which a timer of the page runs after that of the check */
const MARGIN_MS = 50;
/** maximum ms to wait for the answers */
const ANSWERS_MS = 5000;
const IDLE_MS = 100;
const LOOK_EVERY_MS = 30;

/** The part of a DOM element that is used here: Node.js has no DOM types. */
type FieldNode = {
  attributes: ArrayLike<{ name: string; value: string }>;
  parentElement: FieldNode | null;
  blur(): void;
};

/** Runs in the page. ms after which a declared check of the field begins; 0 without a delay, -1 without a check. */
function readDeclaredCheck(node: unknown): number {
  const own = Array.from((node as FieldNode).attributes);
  const around = [];
  for (let at = (node as FieldNode).parentElement; at !== null; at = at.parentElement) {
    around.push(...Array.from(at.attributes).filter(({ name }) => /^(?:up-validate|phx-change)$/.test(name)));
  }
  const checks = own.filter(({ name }) =>
    /^(?:data-)?hx-(?:get|post|put|patch)$|^wire:model|^unicorn:model|^data-val-remote|^up-validate|^phx-change|debounce/.test(
      name,
    ),
  );
  if (checks.length + around.length === 0) return -1;
  const texts = own.filter(({ name }) => /trigger|:model|debounce/.test(name));
  const delays = [...texts, ...around].map(({ name, value }) => {
    const [, amount = '0', unit = 'ms'] = /(\d{1,5})(ms|s)\b/.exec(`${name} ${value.slice(0, 200)}`) ?? [];
    return Number(amount) * (unit === 's' ? 1000 : 1);
  });
  return Math.max(0, ...delays);
}

/** Runs in the page: leaves the field, and resolves after all timers that were set before. */
function leaveField(node: unknown, ms: number): Promise<void> {
  (node as FieldNode).blur();
  return new Promise((resolve) => setTimeout(resolve, ms));
}

type Ports = { traffic: Traffic; signal: AbortSignal };

/** Undefined if the form has gone, as one that submits itself. */
async function unlessGone<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    ignoreStale(error);
    return undefined;
  }
}

/** The longest delay that a field declares; -1 without a check. */
async function readDelay(page: Page, fields: readonly string[]): Promise<number> {
  const delays = fields.map((id) => withElement(page, id, (node) => node.evaluate(readDeclaredCheck)));
  return Math.max(-1, ...(await Promise.all(delays)));
}

/**
 * Waits for the checks that a page makes of typed fields before they are submitted, as htmx, Livewire and scripts with
 * a delay do. A check that is answered beside the submit could take its session or its place. Returns whether it has
 * waited. Pages that declare no check and have sent nothing yet are not waited for, nor forms that may have submitted
 * themselves: a field has gone, or a call holds all of them.
 */
export async function waitForInlineChecks(
  { page }: ObservedPage,
  fields: readonly string[],
  { traffic, signal }: Ports,
): Promise<boolean> {
  const longest = await unlessGone(readDelay(page, fields));
  const last = fields.at(-1);
  if (longest === undefined || last === undefined) return false;
  const sent = traffic.submissions;
  if (longest < 0 && (sent.length === 0 || sent.some(({ secrets }) => secrets >= fields.length))) return false;
  const delay = longest > 0 ? Math.min(longest, MAX_DELAY_MS) : USUAL_DELAY_MS;
  const leave = withElement(page, last, (node) => node.evaluate(leaveField, delay + MARGIN_MS).then(() => true));
  if ((await unlessGone(leave)) === undefined) return false;
  const until = performance.now() + ANSWERS_MS;
  while (traffic.networkIdleMs() < IDLE_MS && performance.now() < until) {
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
  return true;
}

function listTyped({ username, password }: LoginPlan, values: Values): { id: string; text: string }[] {
  const fields = [
    { id: username, text: values.username },
    { id: password, text: values.password },
  ];
  return fields.flatMap(({ id, text }) => (id === undefined || text === undefined ? [] : [{ id, text }]));
}

/**
 * Types credentials, and lets the checks of the page end before they are submitted, once a document: some checks
 * replace a field by an empty one, so the second time the form is submitted right away.
 */
export class InlineChecks {
  #waitedFor: string | undefined;

  /** `waited`: for checks. Throws `StaleElementError` when one of them has changed the form. */
  async typeCredentials(
    observed: ObservedPage,
    input: Values & { site: Site },
    ports: Ports,
  ): Promise<{ lastField: string; waited: boolean }> {
    const { page, plan, document } = observed;
    const lastField = await fillCredentials(observed, input.site, input);
    const typed = listTyped(plan, input);
    const ids = typed.map(({ id }) => id);
    const waited = this.#waitedFor !== document && (await waitForInlineChecks(observed, ids, ports));
    if (waited) {
      this.#waitedFor = document;
      for (const { id, text } of typed) {
        const held = await withElement(page, id, readValue);
        if (held !== text) throw new StaleElementError('a check of the page has changed the field');
      }
      if (plan.submit !== undefined) await withElement(page, plan.submit, () => Promise.resolve());
    }
    ports.signal.throwIfAborted();
    ports.traffic.markSubmit();
    return { lastField, waited };
  }
}
