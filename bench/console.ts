// Measures a session of 10,000 events in a browser: the time to the first rows, to jump and to scroll, and the long
// tasks, also of the lists, one of which has 400 rows, with their largest paint and how much they shift. Targets: first
// rows in 1 s, a jump in 300 ms, no task above 100 ms, 1,500 elements, a shift of 0.02.
// Needs: Chromium on the path.
// EVENTS=1000 RUNS=1 node bench/console.ts gives a quick result.
import { rmSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { CDPSession, Page } from 'playwright-core';
import { findChromium } from '../src/login/browser/chromium.ts';
import { makeScratch } from '../test/support/scratch.ts';
import { median, printMachine, quantile } from './support/figures.ts';
import { startWithLongSession } from './support/long-transcript.ts';

const EVENTS = Number(process.env['EVENTS'] ?? 10_000);
const RUNS = Number(process.env['RUNS'] ?? 5);

type Figures = {
  firstRows: number;
  tasks: number[];
  jumps: number[];
  frames: number[];
  elements: number;
  heap: number;
  shift: number;
};

/** Runs in the page, before everything else. */
const OBSERVE = `globalThis.tasks = [];
new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
  .observe({ type: 'longtask', buffered: true });
globalThis.shift = 0;
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shift += value;
}).observe({ type: 'layout-shift', buffered: true });
globalThis.largest = 0;
new PerformanceObserver((list) => { largest = list.getEntries().at(-1).startTime; })
  .observe({ type: 'largest-contentful-paint', buffered: true });
new MutationObserver((_changes, observer) => {
  if (document.querySelector('.event') === null) return;
  globalThis.firstRows = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });`;

/** Milliseconds from the key to the frame that shows the row of this sequence with its event. */
const JUMP = (sequence: number, key: string) => `new Promise((resolve) => {
  const began = performance.now();
  const look = () => {
    const row = document.querySelector('[aria-posinset="${sequence}"]');
    if (row !== null && row.querySelector('.row-placeholder') === null) resolve(performance.now() - began);
    else if (performance.now() - began > 10_000) resolve(10_000);
    else requestAnimationFrame(look);
  };
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true }));
  look();
})`;

const SCROLL = `new Promise((resolve) => {
  const box = document.querySelector('.transcript-scroll');
  const frames = [];
  let last = performance.now();
  const step = (now) => {
    frames.push(now - last);
    last = now;
    box.scrollBy(0, 120);
    if (frames.length < 200) requestAnimationFrame(step);
    else resolve(frames.slice(1));
  };
  requestAnimationFrame(step);
})`;

async function readHeap(client: CDPSession): Promise<number> {
  await client.send('HeapProfiler.collectGarbage');
  const { usedSize } = await client.send('Runtime.getHeapUsage');
  return usedSize / 1024 / 1024;
}

type ListFigures = { longest: number; largest: number; shift: number };

/** The paint and the shifts while a list loads, and the longest task until its next pages are added. */
async function measureList(page: Page, address: string): Promise<ListFigures> {
  await page.addInitScript(OBSERVE);
  await page.goto(address);
  await page.locator('main tbody tr, main .empty, main .chart').first().waitFor();
  await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => undefined);
  const loaded = await page.evaluate<Omit<ListFigures, 'longest'>>('({ largest, shift })');
  const more = page.getByRole('button', { name: 'Load more' });
  for (let count = 0; count < 5 && (await more.isVisible()); count += 1) {
    await more.click();
    await page.waitForLoadState('networkidle', { timeout: 1000 }).catch(() => undefined);
  }
  return { ...loaded, longest: Math.max(0, ...(await page.evaluate<number[]>('tasks'))) };
}

async function measure(page: Page, address: string): Promise<Figures> {
  await page.addInitScript(OBSERVE);
  await page.goto(address);
  await page.locator('.event').first().waitFor();
  const firstRows = await page.evaluate<number>('firstRows');
  await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => undefined);
  const shift = await page.evaluate<number>('shift');
  const last = Number(await page.locator('.row-virtual').last().getAttribute('aria-posinset'));
  const jumps = [await page.evaluate<number>(JUMP(1, 'Home')), await page.evaluate<number>(JUMP(last - 2, 'End'))];
  await page.evaluate(JUMP(1, 'Home'));
  const frames = await page.evaluate<number[]>(SCROLL);
  const client = await page.context().newCDPSession(page);
  return {
    firstRows,
    shift,
    jumps,
    frames,
    tasks: await page.evaluate<number[]>('tasks'),
    elements: await page.evaluate<number>('document.querySelectorAll("*").length'),
    heap: await readHeap(client),
  };
}

const LISTS = ['sessions', 'inbox', 'agents', 'usage', 'models'];

const folder = makeScratch('bench-console');
const executablePath = findChromium(undefined, process.env['PATH'] ?? '') ?? 'chromium';
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const { server, sessionId } = await startWithLongSession(folder, EVENTS);
try {
  printMachine();
  const runs: Figures[] = [];
  const lists = new Map<string, ListFigures[]>();
  // The first visit builds the console.
  await fetch(`${server.url}/console/`);
  for (let run = 0; run < RUNS; run += 1) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    await context.request.post(`${server.url}/v1/sign-ins`, {
      data: { key: server.key },
      headers: { 'x-capstan-console': '1', 'sec-fetch-site': 'same-origin' },
    });
    runs.push(await measure(await context.newPage(), `${server.url}/console/sessions/${sessionId}`));
    for (const list of LISTS) {
      const page = await context.newPage();
      lists.set(list, [...(lists.get(list) ?? []), await measureList(page, `${server.url}/console/${list}`)]);
      await page.close();
    }
    await context.close();
  }
  const all = (pick: (figures: Figures) => number[]) => runs.flatMap(pick);
  const line = (name: string, value: number, unit: string) => console.log(`${name}: ${value.toFixed(0)} ${unit}`);
  line('first rows, median', median(all(({ firstRows }) => [firstRows])), 'ms');
  line('jump, median', median(all(({ jumps }) => jumps)), 'ms');
  line('frame while scrolling, p50', median(all(({ frames }) => frames)), 'ms');
  line(
    'frame while scrolling, p99',
    quantile(
      all(({ frames }) => frames),
      0.99,
    ),
    'ms',
  );
  line('longest task, median of the runs', median(runs.map(({ tasks }) => Math.max(0, ...tasks))), 'ms');
  line('tasks above 200 ms, all runs', all(({ tasks }) => tasks).filter((ms) => ms > 200).length, '');
  for (const [list, figures] of lists) {
    const middle = (pick: (figures: ListFigures) => number) => median(figures.map(pick));
    line(
      `${list}: longest task, median`,
      middle(({ longest }) => longest),
      'ms',
    );
    line(
      `${list}: largest paint, median`,
      middle(({ largest }) => largest),
      'ms',
    );
    console.log(`${list}: shift, median: ${middle(({ shift }) => shift).toFixed(3)}`);
  }
  console.log(`session: shift, median: ${median(runs.map(({ shift }) => shift)).toFixed(3)}`);
  line('elements', Math.max(...all(({ elements }) => [elements])), '');
  line('heap', median(all(({ heap }) => [heap])), 'MB');
} finally {
  await browser.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
