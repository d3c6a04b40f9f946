import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { findChromium } from '../../src/login/browser/chromium.ts';
import { startServer } from '../cli/server.ts';
import type { CliServer } from '../cli/server.ts';

export type Visit = {
  page: Page;
  context: BrowserContext;
  /** forbidden actions of the page: violations of the policy, requests to other hosts, errors of scripts */
  faults: string[];
};

export type ConsoleServer = {
  server: CliServer;
  url: string;
  key: string;
  browser: Browser;
  /** A request with the server's key. Throws for error responses. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** A new browser, signed in by default. */
  visit(options?: VisitOptions): Promise<Visit>;
  close(): Promise<void>;
};

export type VisitOptions = {
  key?: string | null;
  width?: number;
  height?: number;
  colorScheme?: 'light' | 'dark';
  hasTouch?: boolean;
  /** base address of the console; default: the server's own */
  url?: string;
};

/** Runs in the page. */
const REPORT_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  reportViolation(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sourceFile + ':' + event.lineNumber));`;

/** Records all forbidden actions of the page. */
async function watch(page: Page, faults: string[], origin: string): Promise<void> {
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith('data:') && !url.startsWith('blob:')) faults.push(`foreign: ${url}`);
  });
  await page.exposeFunction('reportViolation', (text: string) => faults.push(`policy: ${text}`));
  await page.addInitScript(REPORT_VIOLATIONS);
}

/** The whole server as its own process, and a real browser. */
export async function openConsole(settings: Record<string, string> = {}): Promise<ConsoleServer> {
  const server = await startServer(settings);
  const key = readFileSync(join(server.dataDir, 'api-key'), 'utf8').trim();
  const executablePath = findChromium(undefined, process.env['PATH'] ?? '') ?? 'chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
  return {
    server,
    url: server.url,
    key,
    browser,
    call,
    async visit({
      key: own = key,
      width = 1280,
      height = 800,
      colorScheme = 'light',
      hasTouch = false,
      url = server.url,
    } = {}) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme,
        hasTouch,
        locale: 'en-GB',
        timezoneId: 'UTC',
      });
      context.setDefaultTimeout(120_000);
      if (own !== null) {
        const response = await context.request.post(`${url}/v1/sign-ins`, {
          data: { key: own },
          headers: { 'x-capstan-console': '1', 'sec-fetch-site': 'same-origin' },
        });
        if (!response.ok()) throw new Error(`sign-in: ${response.status()} ${await response.text()}`);
      }
      const page = await context.newPage();
      const faults: string[] = [];
      await watch(page, faults, new URL(url).origin);
      return { page, context, faults };
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}
