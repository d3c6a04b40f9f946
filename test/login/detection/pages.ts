import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { findChromium } from '../../../src/login/browser/chromium.ts';
import { planLogin } from '../../../src/login/detection/classify.ts';
import type { Observation } from '../../../src/login/detection/description.ts';
import { findElement, installDetection, observePage } from '../../../src/login/detection/observe.ts';
import { readOutcome } from '../../../src/login/detection/outcome-signals.ts';
import type { LoginPlan, OutcomeSignals } from '../../../src/login/detection/login-plan.ts';

export type Pages = Readonly<Record<string, string>>;

/** A plan in terms of the page's own ids (`#id`), so that a test reads like the page. */
export type NamedPlan = {
  username?: string | undefined;
  password?: string | undefined;
  remember?: string | undefined;
  submit?: string | undefined;
  kind: LoginPlan['kind'];
  reason: LoginPlan['reason'];
  code: string[];
  loginLinks: string[];
  dismiss: (string | undefined)[];
  captcha: boolean;
};

export type TestBrowser = AsyncDisposable & {
  /** Shows a page in place of the last one. `pages` are served by address; all other network access is refused. */
  open: (pages: Pages | string, path?: string) => Promise<Page>;
};

const SITE = 'https://site.example';

/** Undefined without a Chromium, unless nothing may be skipped. */
export async function openTestBrowser(): Promise<TestBrowser | undefined> {
  const program = findChromium(process.env['CAPSTAN_CHROMIUM'], process.env['PATH'] ?? '');
  if (program === undefined) {
    const reason = 'Chromium is not installed: scripts/install-test-services.sh installs it';
    if (process.env['CAPSTAN_REQUIRE_ALL'] === '1') throw new Error(reason);
    process.stderr.write(`Skipped what needs a browser: ${reason}.\n`);
    return undefined;
  }
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser: Browser = await chromium.launch({ executablePath: program, args: asRoot, timeout: 60_000 });
  const context = await browser.newContext();
  let pages: Pages = {};
  await context.route('**', (route) => {
    const url = new URL(route.request().url());
    const body = pages[url.href] ?? pages[url.pathname];
    return body === undefined ? route.abort() : route.fulfill({ contentType: 'text/html; charset=utf-8', body });
  });
  await installDetection(context);
  const page = await context.newPage();
  return {
    async open(given, path = '/') {
      pages = typeof given === 'string' ? { '/': given } : given;
      await page.goto(SITE + path);
      return page;
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
    },
  };
}

export function observe(page: Page): Promise<Observation> {
  return observePage(page, ({ host }) => host === 'site.example' || host.endsWith('.site.example'));
}

async function readName(page: Page, id: string): Promise<string> {
  const element = await findElement(page, id);
  if (!element) throw new Error(`no element ${id}`);
  return element.evaluate<string, { id: string }>((node) => node.id);
}

/** Observes a page and names the elements of the plan. */
export async function plan(page: Page): Promise<NamedPlan> {
  const found = planLogin(await observe(page));
  const name = async (id: string | undefined) => (id === undefined ? undefined : readName(page, id));
  const named: NamedPlan = {
    kind: found.kind,
    reason: found.reason,
    code: await Promise.all(found.code.map((id) => readName(page, id))),
    loginLinks: await Promise.all(found.loginLinks.map(({ id }) => readName(page, id))),
    dismiss: await Promise.all(found.obstacles.map(({ dismiss }) => name(dismiss))),
    captcha: found.captcha,
  };
  for (const part of ['username', 'password', 'remember', 'submit'] as const) {
    const id = await name(found[part]);
    if (id !== undefined) named[part] = id;
  }
  return named;
}

export async function readSignals(page: Page): Promise<OutcomeSignals> {
  return readOutcome(await observe(page));
}

export type Case = readonly [name: string, html: string, expected: Partial<NamedPlan>];

export const LOGIN = { kind: 'login', reason: 'fill', username: 'u', password: 'p', submit: 's' } as const;
export const NOTHING = { username: undefined, password: undefined, code: [] };
export const FIELDS = `<input id=u name=username><input id=p type=password name=password>`;
export const SIMPLE = `<form>${FIELDS}<button id=s>Log in</button></form>`;
