import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import type { Answer, TestLogin } from '../login/harness.ts';
import { PASSWORD, countAttempts, isInstalled, startApp } from './app.ts';
import type { RunningApp } from './app.ts';
import { DJANGO } from './apps/django.ts';
import { FLASK, FLASK_LINKS, PEOPLE, SECRET } from './apps/flask.ts';
import { CAREFUL, CAREFUL_SECRET, REDMINE } from './apps/redmine.ts';
import { posts } from './front.ts';
import { openMailbox, waitForLetter } from './mail.ts';
import type { Mailbox } from './mail.ts';
import { expectSession, openLogin, readChallenge } from './replay.ts';

let opened: Awaited<ReturnType<typeof openLogin>>;
let login: TestLogin;
let browser: Browser;
let mailbox: Mailbox;
let running: RunningApp;
beforeAll(async () => {
  opened = await openLogin();
  ({ login, browser } = opened);
  mailbox = await openMailbox();
});
afterAll(async () => {
  await opened.close();
  await mailbox.close();
});
beforeEach(() => {
  mailbox.sentEmails.length = 0;
});

const LINK = /https?:\/\/\S+/;

/** With the session the text is on the page, without it is not. */
const expectInside = (answer: Answer, status: number, path: string, text: string) =>
  expectSession(browser, answer, { status, url: running.url + path, text });
const waitForMail = (to: string, pattern: RegExp) => waitForLetter(mailbox, to, pattern);

describe.skipIf(!isInstalled(DJANGO))('allauth', () => {
  beforeAll(async () => {
    running = await startApp(DJANGO, mailbox.port);
  });
  afterAll(() => running.stop());

  test('makes an account whose email leads to a button, and signs in with it', async () => {
    const email = 'new@example.com';
    const asked = await login.post('/api/signup', {
      signup_method: 'email',
      domain: `${running.url}/accounts/signup/`,
      cred: { email, username: 'newcomer' },
    });
    const challenge = readChallenge(asked, 'email_verification');
    const done = await login.post(challenge, { link: await waitForMail(email, LINK) });
    await expectInside(done, 201, '/accounts/email/', email);
    expect(countAttempts(running, posts('/accounts/signup/'))).toBe(1);
    expect(countAttempts(running, posts('/accounts/login/'))).toBe(1);

    const { credentialId } = done.body as { credentialId: string };
    const anew = await login.post('/api/refresh', { credentialId, force: true });
    await expectInside(anew, 200, '/accounts/email/', email);
  });
});

describe.skipIf(!isInstalled(FLASK))('flask-security', () => {
  beforeAll(async () => {
    running = await startApp(FLASK, mailbox.port);
  });
  afterAll(() => running.stop());

  const ask = (username: string, more: object, loginMethod = 'password') =>
    login.post('/api/login', {
      domain: `${running.url}/login`,
      loginMethod,
      cred: { username, password: PASSWORD, ...more },
      useCache: false,
    });

  test('asks for the code of an authenticator, and reports a wrong one', async () => {
    const done = await ask(PEOPLE.authenticator, { totpSecret: SECRET }, 'totp');
    await expectInside(done, 200, '/account', `For ${PEOPLE.authenticator}`);
    const before = countAttempts(running, posts('/tf-validate'));
    const { status, body } = await ask(PEOPLE.authenticator, { totpSecret: 'AAAABBBBCCCCDDDD' }, 'totp');
    expect([status, body['error']]).toEqual([422, 'invalid_code']);
    expect(countAttempts(running, posts('/tf-validate')) - before).toBe(1);
  });

  test('sends a code by email', async () => {
    const challenge = readChallenge(await ask(PEOPLE.mail, {}), 'otp_email');
    const code = await waitForMail(PEOPLE.mail, /\b\d{6}\b/);
    const wrong = await login.post(challenge, { code: code === '123456' ? '654321' : '123456' });
    expect([wrong.status, wrong.body['error']]).toEqual([422, 'invalid_code']);
    await expectInside(await login.post(challenge, { code }), 200, '/account', `For ${PEOPLE.mail}`);
  });

  test('makes an account that is confirmed by email', async () => {
    const email = 'new@example.com';
    const cred = { email };
    const domain = `${running.url}/register`;
    const asked = await login.post('/api/signup', { signup_method: 'email', domain, cred });
    const challenge = readChallenge(asked, 'email_verification');
    const done = await login.post(challenge, { link: await waitForMail(email, LINK) });
    await expectInside(done, 201, '/account', `For ${email}`);
    const again = await login.post('/api/signup', { signup_method: 'email', domain, cred });
    expect([again.status, again.body['error']]).toEqual([409, 'account_exists']);
  });
});

describe.skipIf(!isInstalled(FLASK_LINKS))('flask-security without passwords', () => {
  beforeAll(async () => {
    running = await startApp(FLASK_LINKS, mailbox.port);
  });
  afterAll(() => running.stop());

  test('sends a link that signs in', async () => {
    const email = PEOPLE.password;
    const cred = { username: email };
    const asked = await login.post('/api/login', { domain: `${running.url}/login`, loginMethod: 'magic_link', cred });
    const link = await waitForMail(email, LINK);
    const done = await login.post(readChallenge(asked, 'magic_link'), { link });
    expect(done.status).toBe(200);
    await expectInside(done, 200, '/account', `For ${email}`);
  });
});

describe.skipIf(!isInstalled(REDMINE))('Redmine', () => {
  beforeAll(async () => {
    running = await startApp(REDMINE, mailbox.port);
  });
  afterAll(() => running.stop());

  test('makes an account that is activated by email, and signs in with it', async () => {
    const email = 'new@example.com';
    const asked = await login.post('/api/signup', {
      signup_method: 'email',
      domain: `${running.url}/account/register`,
      cred: { email, username: 'newcomer' },
      additionalFields: { 'First name': 'New', 'Last name': 'Comer' },
    });
    const challenge = readChallenge(asked, 'email_verification');
    const done = await login.post(challenge, { link: await waitForMail(email, LINK) });
    await expectInside(done, 201, '/my/account', 'Logged in as');
    expect(countAttempts(running, posts('/account/register'))).toBe(1);
  });

  test('asks for the code of an authenticator, and reports a wrong one', async () => {
    const ask = (totpSecret: string) =>
      login.post('/api/login', {
        domain: `${running.url}/login`,
        loginMethod: 'totp',
        cred: { username: CAREFUL, password: PASSWORD, totpSecret },
        useCache: false,
      });
    await expectInside(await ask(CAREFUL_SECRET), 200, '/my/account', 'Logged in as');
    const { status, body } = await ask('AAAABBBBCCCCDDDD');
    expect([status, body['error']]).toEqual([422, 'invalid_code']);
  });
});
