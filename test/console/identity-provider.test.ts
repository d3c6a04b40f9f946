import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findChromium } from '../../src/login/browser/chromium.ts';
import { startPeopleServer } from '../support/oidc/people-server.ts';
import type { PeopleServer } from '../support/oidc/people-server.ts';

let people: PeopleServer;
let browser: Browser;
beforeAll(async () => {
  people = await startPeopleServer();
  const executablePath = findChromium(undefined, process.env['PATH'] ?? '') ?? 'chromium';
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
});
afterAll(async () => {
  await browser.close();
  await people.close();
});

async function open(path: string): Promise<Page> {
  const context = await browser.newContext();
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  await page.goto(people.base + path);
  return page;
}

/** Signs in at the identity provider, from the sign-in form of the console. */
async function signIn(page: Page, login: string): Promise<void> {
  await page.getByRole('link', { name: /^Sign in with/ }).click();
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

test('a person comes back to the page that asked for a sign-in, and leaves through the provider', async () => {
  const page = await open('/console/sessions?status=idle');
  await signIn(page, 'builder@default');
  await page.getByText('Person builder@default').waitFor();
  expect(page.url()).toBe(`${people.base}/console/sessions?status=idle`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Yes, sign me out' }).click();
  await page.waitForURL(`${people.base}/console/signin*`);
  await signIn(page, 'viewer@default');
  await page.getByText('Person viewer@default').waitFor();
  await page.waitForURL(`${people.base}/console/sessions`);
  await page.context().close();
});

test('somebody without a role reads why, with the id for the log', async () => {
  const page = await open('/console/agents');
  await signIn(page, 'stranger@default');
  const alert = page.getByRole('alert');
  await alert.getByText('None of your groups has a role here.').waitFor();
  expect(await alert.textContent()).toMatch(/req_\w+/);
  await page.getByRole('link', { name: /^Sign in with/ }).waitFor();
  await page.context().close();
});
