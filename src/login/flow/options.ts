import type { Page } from 'playwright-core';
import type { Interstitial } from '../detection/interstitials.ts';
import { normalizeText } from '../detection/match.ts';
import { StaleElementError, ignoreStale, press, withElement } from './page-actions.ts';

/** The part of a DOM element that is used here: Node.js has no DOM types. */
type Node = { innerText: string; parentElement: Node | null; querySelectorAll(selector: string): { length: number } };

const MAX_LABEL = 120;
/** Captions that mean nothing without their row. */
const BARE =
  /^(?:select|choose|use|use this|open|go|next|continue|send|auswahlen|wahlen|weiter|choisir|selectionner|continuer|elegir|seleccionar|continuar|escolher|selecionar)?$/;

/** Runs in the page: the text of the largest part around a button that contains no other button. */
function readRow(element: unknown): string {
  let row = element as Node;
  for (let at = row.parentElement; at !== null; at = at.parentElement) {
    if (at.querySelectorAll('a[href],button,input[type=submit],input[type=radio],[role=button]').length > 1) break;
    row = at;
  }
  return row.innerText.slice(0, 400);
}

/** A readable label for each option of a page, in their order. */
export function labelOptions(page: Page, { options }: Interstitial): Promise<string[]> {
  const seen = (label: string) => options.filter((each) => each.label === label).length;
  return Promise.all(
    options.map(async ({ id, label }) => {
      const isClear = !BARE.test(normalizeText(label)) && seen(label) === 1;
      if (isClear) return label;
      const row = await withElement(page, id, (element) => element.evaluate(readRow)).catch(() => '');
      const text = row.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_LABEL);
      const own = text.endsWith(label) ? text.slice(0, -label.length).trim() : text;
      return own === '' ? label : own;
    }),
  );
}

/** Presses an option. A radio button is chosen, and the page's button pressed after it. */
export async function pressOption(page: Page, found: Interstitial, index: number): Promise<void> {
  const option = found.options[index];
  if (option === undefined) throw new StaleElementError('the option has left the page');
  if (option.control !== 'radio') return press(page, option.id).catch(ignoreStale);
  // Radio buttons are often covered by the element that draws them.
  await withElement(page, option.id, (element) =>
    element.evaluate((node) => (node as unknown as { click(): void }).click()),
  ).catch(ignoreStale);
  if (found.press !== undefined) await press(page, found.press).catch(ignoreStale);
}
