import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byPassword } from '../login/harness.ts';
import type { TestLogin } from '../login/harness.ts';
import { PASSWORD, USER, countAttempts, isInstalled, startApp } from './app.ts';
import type { RunningApp } from './app.ts';
import { TRANSMISSION } from './apps/downloads.ts';
import { TIDDLYWIKI } from './apps/npm.ts';
import { FLOWER, GLANCES, SUPERVISOR, WSGIDAV } from './apps/python.ts';
import { RADICALE } from './apps/radicale.ts';
import type { Knock } from './front.ts';
import { openLogin } from './replay.ts';

const WRONG = 'Wrong-horse8';
const isAttempt = ({ authorization }: Knock) => authorization !== '';
const isRefused = (knock: Knock) => isAttempt(knock) && knock.status === 401;

let opened: Awaited<ReturnType<typeof openLogin>>;
let login: TestLogin;
let browser: Browser;
beforeAll(async () => {
  opened = await openLogin();
  ({ login, browser } = opened);
});
afterAll(() => opened.close());

const CASES = [
  { app: TRANSMISSION, shows: 'Transmission Web Interface' },
  { app: WSGIDAV, shows: 'minutes.txt' },
  { app: SUPERVISOR, shows: 'Supervisor Status' },
  { app: GLANCES, shows: 'glances.js' },
  { app: FLOWER, shows: 'Workers · Flower' },
  { app: TIDDLYWIKI, shows: 'TiddlyWiki' },
];
const installed = CASES.filter(({ app }) => isInstalled(app)).map((each) => ({ label: each.app.name, ...each }));

describe.each(installed)('$label', ({ app, shows }) => {
  let running: RunningApp;
  beforeAll(async () => {
    running = await startApp(app);
  });
  afterAll(() => running.stop());

  /** HTTP authentication is sent with every request, so the caller sends it beside the session. */
  const openWith = async (storageState: object) => {
    const httpCredentials = { username: USER, password: PASSWORD };
    const context = await browser.newContext({ httpCredentials, storageState: storageState as never });
    try {
      const page = await context.newPage();
      const response = await page.goto(running.url);
      return [response?.status(), (await page.content()).includes(shows)];
    } finally {
      await context.close();
    }
  };

  test('lets the right password in', async () => {
    const { status, body } = await login.post('/api/login', byPassword(running.url, USER, PASSWORD));
    expect([status, body['error'], body['origins']]).toEqual([200, undefined, [running.url]]);
    expect(countAttempts(running, isRefused)).toBe(0);
    const session = body['storageState'] as object;
    expect(await openWith(session)).toEqual([200, true]);
    expect((await fetch(running.url)).status).toBe(401);
  });

  test('refuses a wrong password once', async () => {
    const before = countAttempts(running, isAttempt);
    const { status, body } = await login.post('/api/login', byPassword(running.url, USER, WRONG));
    expect([status, body['error']]).toEqual([422, 'invalid_credentials']);
    expect(countAttempts(running, isAttempt) - before).toBe(1);
  });
});

describe.skipIf(!isInstalled(RADICALE))('radicale', () => {
  let running: RunningApp;
  beforeAll(async () => {
    running = await startApp(RADICALE);
  });
  afterAll(() => running.stop());

  const readLog = () => readFileSync(join(running.scratch, 'log'), 'utf8');

  test('lets the right password in, though its page keeps nothing that could be taken along', async () => {
    const { status, body } = await login.post('/api/login', byPassword(`${running.url}/.web/`, USER, PASSWORD));
    expect([status, body['error'], body['cookies']]).toEqual([200, undefined, []]);
    await expect.poll(readLog).toContain(`Successful login: '${USER}'`);
    expect(countAttempts(running, isRefused)).toBe(0);
  });

  test('refuses a wrong password once', async () => {
    const { status, body } = await login.post('/api/login', byPassword(`${running.url}/.web/`, USER, WRONG));
    expect([status, body['error']]).toEqual([422, 'invalid_credentials']);
    await expect.poll(readLog).toContain('Failed login attempt');
    expect(readLog().split('Failed login attempt')).toHaveLength(2);
    expect(countAttempts(running, isRefused)).toBe(1);
  });
});
