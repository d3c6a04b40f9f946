import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { z } from 'zod';
import type { ElementDescription, Observation } from '../../src/login/detection/description.ts';
import { observePage } from '../../src/login/detection/observe.ts';

export type Label = { scoring: string | null; submit: boolean };
export type CorpusPage = {
  file: string;
  expected: 'login' | 'registration' | 'login or registration' | 'other';
  observation: Observation;
  observedMs: number;
  labels: ReadonlyMap<string, Label>;
};

const ORIGIN = 'https://site.example';
const LOAD_TIMEOUT_MS = 30_000;

/** Stores the labels outside of their elements and removes them from the page before detection sees it. */
const HIDE_LABELS = `globalThis.labelled = [...document.querySelectorAll('[data-manual-scoring],[data-manual-submit]')].map((element) => {
  const label = { scoring: element.getAttribute('data-manual-scoring'), submit: element.hasAttribute('data-manual-submit') };
  element.removeAttribute('data-manual-scoring');
  element.removeAttribute('data-manual-submit');
  return [element, label];
})`;
const READ_LABELS = `((numbers) => {
  const code = globalThis[Symbol.for('capstan.detection')];
  const labels = new Map(globalThis.labelled);
  return numbers.map((number) => labels.get(code.findNumbered(number)) ?? null);
})`;

const Index = z.array(z.object({ html: z.string(), title: z.string().optional() }));

/** Titles that the captured pages lack, by file; an optional `index.json` beside the pages holds them. */
function readTitles(folder: string): ReadonlyMap<string, string> {
  const path = join(folder, 'index.json');
  if (!existsSync(path)) return new Map();
  const entries = Index.parse(JSON.parse(readFileSync(path, 'utf8')));
  return new Map(entries.flatMap(({ html, title }) => (title === undefined ? [] : [[html, title] as const])));
}

function decideExpected(file: string): CorpusPage['expected'] {
  if (file.includes('login_signup')) return 'login or registration';
  if (file.includes('login')) return 'login';
  return file.includes('signup') ? 'registration' : 'other';
}

async function readLabels(page: Page, elements: readonly ElementDescription[]): Promise<Map<string, Label>> {
  const numbers = elements.map(({ id }) => Number(id.split('.')[1]));
  const labels = await page.evaluate<(Label | null)[]>(`${READ_LABELS}(${JSON.stringify(numbers)})`);
  return new Map(
    elements.flatMap(({ id }, index) => {
      const label = labels[index];
      return label ? [[id, label] as const] : [];
    }),
  );
}

/** Serves each page of a folder alone, with all other network access refused, and observes it. */
export async function* observeCorpus(folder: string, context: BrowserContext): AsyncGenerator<CorpusPage> {
  let html = '';
  const titles = readTitles(folder);
  await context.route('**', (route) =>
    route.request().url() === `${ORIGIN}/`
      ? route.fulfill({ contentType: 'text/html; charset=utf-8', body: html })
      : route.abort(),
  );
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.html'))) {
    html = readFileSync(join(folder, file), 'utf8');
    const page = await context.newPage();
    await page.goto(`${ORIGIN}/`, { waitUntil: 'domcontentloaded', timeout: LOAD_TIMEOUT_MS });
    await page.evaluate(HIDE_LABELS);
    await page.evaluate(`document.title ||= ${JSON.stringify(titles.get(file) ?? '')}`);
    const started = performance.now();
    const observation = await observePage(page, ({ origin }) => origin === ORIGIN);
    const observedMs = performance.now() - started;
    const labels = await readLabels(page, observation.frames[0]?.elements ?? []);
    yield { file, expected: decideExpected(file), observation, observedMs, labels };
    await page.close();
  }
}
