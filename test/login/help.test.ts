import { pino } from 'pino';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readHelpToken, signHelpToken } from '../../src/login/help/token.ts';
import { buildMasterKeys } from '../../src/platform/master-key.ts';
import { PICKER_SITE, PUSH_SITE, approve } from '../support/login-sites/between.ts';
import { BOX, CHECK_SITE, QUESTION_SITE, WALL_SITE } from '../support/login-sites/captcha.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { STEP_SITES, sentEmails } from '../support/login-sites/steps.ts';
import { MASTER_KEY } from '../support/vaults.ts';
import { byPassword, getChromium, replay, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

/** The service's log, at the most verbose level. */
const lines: string[] = [];
let sites: LoginSites;
let login: TestLogin;
let browser: Browser;

beforeAll(async () => {
  sites = await startLoginSites([...STEP_SITES, PICKER_SITE, PUSH_SITE, WALL_SITE, CHECK_SITE, QUESTION_SITE]);
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  login = await startTestLogin({ ports: { log } });
  browser = await chromium.launch({ executablePath: getChromium(), chromiumSandbox: process.getuid?.() !== 0 });
});
afterAll(async () => {
  await browser.close();
  await login.close();
  await sites.close();
});
beforeEach(async () => {
  sites.reset();
  await login.db.query('DELETE FROM login_sessions');
});

type Login = {
  id: string;
  state: string;
  action: { kind: string; challengeId: string } | null;
  helpUrl: string | null;
  helpUrlExpiresAt: string | null;
  error: object | null;
  session?: { cookies: { name: string; value: string }[] };
};

const get = async (id: string) => (await login.call('GET', `/api/logins/${id}`)).body as Login;
const start = async (name: string, more: object = {}) =>
  (await login.post('/api/logins', byPassword(sites.url(name), USER, PASSWORD, { useCache: false, ...more })))
    .body as Login;

async function reach(id: string, ...states: string[]): Promise<Login> {
  await expect.poll(async () => states.includes((await get(id)).state)).toBe(true);
  return get(id);
}
const reachWaiting = (id: string) => reach(id, 'awaiting_input', 'awaiting_external_action', 'failed', 'succeeded');

/** The help page of a login in its own browser, once it shows the picture. */
async function openHelp({ helpUrl }: Login, viewport = { width: 1280, height: 900 }): Promise<Page> {
  const context = await browser.newContext({ viewport });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => (message.type() === 'error' ? faults.push(message.text()) : undefined));
  const response = await page.goto(helpUrl ?? '');
  expect([response?.status(), response?.headers()['content-security-policy']]).toEqual([
    200,
    expect.stringContaining("default-src 'none'"),
  ]);
  const picture = page.locator('#picture');
  await expect
    .poll(() => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
    .toBeGreaterThan(0);
  expect(faults).toEqual([]);
  return page;
}

/** Clicks the picture at that position of the page. */
async function clickAt(page: Page, { x, y }: { x: number; y: number }): Promise<void> {
  const picture = page.locator('#picture');
  const [width, height] = await Promise.all([picture.getAttribute('width'), picture.getAttribute('height')]);
  const shown = await picture.boundingBox();
  if (shown === null) throw new Error('there is no picture');
  await picture.click({ position: { x: (x / Number(width)) * shown.width, y: (y / Number(height)) * shown.height } });
}

/** The text of the page behind the login with its session, once the login has ended. */
async function openProtected(id: string, name: string): Promise<string> {
  const { error, helpUrl, session } = await reach(id, 'succeeded', 'failed');
  expect([error, helpUrl]).toEqual([null, null]);
  return (await replay(sites.protectedUrl(name), session!)).text();
}

describe('a person at the live page', () => {
  test.each(['click-wall', 'check-in-form'])('passes the check of %s by a click', async (name) => {
    const { id } = await start(name);
    const waiting = await reachWaiting(id);
    expect(waiting).toMatchObject({ state: 'awaiting_external_action', action: { kind: 'captcha' } });
    const page = await openHelp(waiting);
    await clickAt(page, BOX);
    expect(await openProtected(id, name)).toContain('Protected');
    await page.getByText('Signed in.').waitFor();
    expect(sites.accounts(name).attempts).toEqual([{ username: USER, ok: true }]);
  });

  test('chooses an organization in the picture', async () => {
    const { id } = await start('picker');
    const waiting = await reachWaiting(id);
    expect(waiting).toMatchObject({ state: 'awaiting_input', action: { kind: 'choose_account' } });
    const page = await openHelp(waiting);
    expect(await page.locator('#options button').allTextContents()).toEqual(['Acme', 'Globex']);
    // The second entry of the site's list, with the keyboard only.
    await page.locator('#view').focus();
    for (const key of ['Tab', 'Tab', 'Enter']) await page.keyboard.press(key);
    expect(await openProtected(id, 'picker')).toContain('Protected');
  });

  test('chooses an organization by the button of the help page', async () => {
    const { id } = await start('picker');
    const page = await openHelp(await reachWaiting(id));
    await page.getByRole('button', { name: 'Globex' }).click();
    expect(await openProtected(id, 'picker')).toContain('Protected');
  });

  test('watches an approval come', async () => {
    const { id } = await start('push');
    const waiting = await reachWaiting(id);
    const page = await openHelp(waiting, { width: 360, height: 740 });
    await expect.poll(() => page.locator('#what').textContent()).toBe('Approve the sign-in on your other device.');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    approve();
    expect(await openProtected(id, 'push')).toContain('Protected');
  });

  test('types the code into the page of the site', async () => {
    const body = {
      domain: sites.url('mail-code'),
      loginMethod: 'otp_email',
      cred: { username: USER },
      useCache: false,
    };
    const { id } = (await login.post('/api/logins', body)).body as Login;
    const page = await openHelp(await reachWaiting(id));
    // The site focuses the field.
    await page.locator('#view').focus();
    await page.keyboard.press('Tab');
    await page.locator('#text').fill(sentEmails.at(-1)?.code ?? '');
    await page.getByRole('button', { name: 'Type', exact: true }).click();
    await page.getByRole('button', { name: 'Enter' }).click();
    expect(await openProtected(id, 'mail-code')).toContain('Protected');
  });

  test('passes a page that the service does not know, and nothing typed is written down', async () => {
    const { id } = await start('question', { help: 'any' });
    const waiting = await reachWaiting(id);
    expect(waiting).toMatchObject({ state: 'awaiting_external_action', action: { kind: 'human' } });
    const page = await openHelp(waiting);
    await clickAt(page, BOX);
    await page.keyboard.type('Vermilion-7');
    await page.keyboard.press('Enter');
    expect(await openProtected(id, 'question')).toContain('Protected');
    const trace = await login.call('GET', `/api/logins/${id}/trace`);
    const { rows } = await login.db.query(
      'SELECT row_to_json(l)::text AS text FROM logins l UNION ALL SELECT entry FROM audit_records',
    );
    expect(JSON.stringify([lines, trace.body, rows])).not.toMatch(/Vermilion/);
    expect(JSON.stringify(rows)).toContain('openLoginHelp');
  });
});

describe('without a person', () => {
  test.each([{ help: 'none' }, {}])('a call that waits is answered captcha_required: %j', async (more) => {
    const answer = await login.post('/api/login', byPassword(sites.url('check-in-form'), USER, PASSWORD, more));
    expect([answer.status, answer.body['error']]).toEqual([422, 'captcha_required']);
  });

  test('a call that waits may ask for one', async () => {
    const body = byPassword(sites.url('check-in-form'), USER, PASSWORD, { help: 'captcha' });
    const answer = await login.post('/api/login', body);
    expect([answer.status, answer.body['error']]).toEqual([409, 'action_required']);
    expect(answer.body['details']).toMatchObject({ kind: 'captcha' });
    await login.call('DELETE', `/api/logins/${answer.headers.get('x-login-id')}`);
  });
});

describe('the link', () => {
  test('is refused once the login is over, and where it was changed', async () => {
    const { id } = await start('picker');
    const { helpUrl } = await reachWaiting(id);
    const changed = `${helpUrl?.slice(0, -1)}${helpUrl?.endsWith('0') === true ? '1' : '0'}`;
    expect((await fetch(changed)).status).toBe(404);
    expect((await fetch(helpUrl ?? '')).headers.get('cache-control')).toBe('no-store');
    await login.call('DELETE', `/api/logins/${id}`);
    await expect.poll(async () => (await fetch(helpUrl ?? '')).status).toBe(404);
    const late = await fetch(`${helpUrl}/input`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ events: [{ type: 'text', text: 'late' }] }),
    });
    expect(late.status).toBe(404);
  });

  test('says nothing of input that it cannot take', async () => {
    const { id } = await start('picker');
    const waiting = await reachWaiting(id);
    await openHelp(waiting);
    const bad = await fetch(`${waiting.helpUrl}/input`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ events: [{ type: 'key', key: 'my-password', modifiers: [] }] }),
    });
    expect(bad.status).toBe(400);
    expect(await bad.text()).not.toContain('my-password');
    await login.call('DELETE', `/api/logins/${id}`);
  });

  test('is for one login, until it expires', () => {
    const keys = buildMasterKeys(MASTER_KEY);
    const grant = { organizationId: 'org_a', loginId: 'lgn_a', expiresAt: new Date(2000) };
    const token = signHelpToken(keys, grant);
    expect(readHelpToken(keys, token, 1999)).toEqual(grant);
    expect(readHelpToken(keys, token, 2000)).toBeUndefined();
    const [, signature = ''] = token.split('.');
    const other = Buffer.from(JSON.stringify(['org_a', 'lgn_b', 2000])).toString('base64url');
    expect(readHelpToken(keys, `${other}.${signature}`, 1000)).toBeUndefined();
    for (const bad of ['', '.', 'a.b', 'x'.repeat(500)]) expect(readHelpToken(keys, bad, 0)).toBeUndefined();
  });

  test('is not shown to a key that may only read', async () => {
    const { id } = await start('picker');
    await reachWaiting(id);
    const reader = await login.makeKey('default', ['services:read']);
    const list = await login.call('GET', '/api/logins?status=waiting', undefined, reader);
    const listed = (list.body['data'] as Login[]).find((each) => each.id === id);
    expect(listed).toMatchObject({ id, helpUrl: null });
    await login.call('DELETE', `/api/logins/${id}`);
  });
});
