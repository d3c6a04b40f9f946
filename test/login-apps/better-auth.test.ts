import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Answer, TestLogin } from '../login/harness.ts';
import { PASSWORD, countAttempts, isInstalled, startApp } from './app.ts';
import type { RunningApp } from './app.ts';
import { BETTER_AUTH, MEMBERS, readAuthenticator } from './apps/better-auth.ts';
import { DOVECOT, MAIL_PASSWORD, startDovecot } from './dovecot.ts';
import type { MailServer } from './dovecot.ts';
import { posts } from './front.ts';
import { openMailbox, waitForLetter } from './mail.ts';
import type { Mailbox } from './mail.ts';
import { expectSession, openLogin, readChallenge } from './replay.ts';

const LINK = /https?:\/\/\S+/;
const CODE = /\b\d{6}\b/;
const { password, authenticator, mail } = MEMBERS;

describe.skipIf(!isInstalled(BETTER_AUTH))('better-auth', () => {
  let opened: Awaited<ReturnType<typeof openLogin>>;
  let login: TestLogin;
  let browser: Browser;
  let mailbox: Mailbox;
  let running: RunningApp;
  /** Their emails also go into a mailbox that is read over IMAP. */
  let server: MailServer | undefined;
  beforeAll(async () => {
    opened = await openLogin();
    ({ login, browser } = opened);
    mailbox = await openMailbox((to, email) => server?.deliver(to, email));
    running = await startApp(BETTER_AUTH, mailbox.port);
  });
  afterAll(async () => {
    await running.stop();
    await mailbox.close();
    await opened.close();
  });
  beforeEach(() => {
    mailbox.sentEmails.length = 0;
  });

  const ask = (loginMethod: string, cred: object, more: object = {}) =>
    login.post('/api/login', { domain: `${running.url}/login`, loginMethod, cred, useCache: false, ...more });
  const expectInside = (answer: Answer, email: string, status = 200) =>
    expectSession(browser, answer, { status, url: `${running.url}/account`, text: `For ${email}` });
  const count = (path: string) => countAttempts(running, posts(`/api/auth${path}`));

  test('lets the right password in', async () => {
    await expectInside(await ask('password', { username: password, password: PASSWORD }), password);
    expect(count('/sign-in/email')).toBe(1);
  });

  test('refuses a wrong password once', async () => {
    const before = count('/sign-in/email');
    const { status, body } = await ask('password', { username: password, password: 'Wrong-horse8' });
    expect([status, body['error']]).toEqual([422, 'invalid_credentials']);
    expect(count('/sign-in/email') - before).toBe(1);
  });

  test('asks for the code of an authenticator, and reports a wrong one', async () => {
    const cred = { username: authenticator, password: PASSWORD };
    const totpSecret = readAuthenticator(running);
    await expectInside(await ask('totp', { ...cred, totpSecret }), authenticator);
    const before = count('/two-factor/verify-totp');
    const { status, body } = await ask('totp', { ...cred, totpSecret: 'AAAABBBBCCCCDDDD' });
    expect([status, body['error']]).toEqual([422, 'invalid_code']);
    expect(count('/two-factor/verify-totp') - before).toBe(1);
  });

  test('asks the caller for that code where nothing makes it', async () => {
    const asked = await ask('password', { username: authenticator, password: PASSWORD });
    const challenge = readChallenge(asked, 'totp');
    const wrong = await login.post(challenge, { code: 'AAAAAA' });
    expect([wrong.status, wrong.body['error']]).toEqual([422, 'invalid_code']);
  });

  test('sends a code in place of a password, and reports a wrong one', async () => {
    const challenge = readChallenge(await ask('otp_email', { username: mail }), 'otp_email');
    const code = await waitForLetter(mailbox, mail, CODE);
    const wrong = await login.post(challenge, { code: code === '123456' ? '654321' : '123456' });
    expect([wrong.status, wrong.body['error']]).toEqual([422, 'invalid_code']);
    await expectInside(await login.post(challenge, { code }), mail);
  });

  test('sends a link in place of a password', async () => {
    const challenge = readChallenge(await ask('magic_link', { username: mail }), 'magic_link');
    await expectInside(await login.post(challenge, { link: await waitForLetter(mailbox, mail, LINK) }), mail);
    expect(mailbox.sentEmails).toHaveLength(1);
  });

  test('does not let a link in that is not its own', async () => {
    const challenge = readChallenge(await ask('magic_link', { username: mail }), 'magic_link');
    const link = await waitForLetter(mailbox, mail, LINK);
    const other = link.replace(/token=\w+/, 'token=of-nobody');
    expect(other).not.toBe(link);
    const { status, body } = await login.post(challenge, { link: other });
    expect([status, body['error']]).toEqual([422, 'invalid_code']);
  });

  test('makes an account that is confirmed by email, and signs in with it anew', async () => {
    const email = 'new@example.com';
    const asked = await login.post('/api/signup', {
      signup_method: 'email',
      domain: `${running.url}/signup`,
      cred: { email },
      additionalFields: { name: 'New Comer' },
    });
    const challenge = readChallenge(asked, 'email_verification');
    const done = await login.post(challenge, { link: await waitForLetter(mailbox, email, LINK) });
    await expectInside(done, email, 201);
    expect(count('/sign-up/email')).toBe(1);

    const { credentialId } = done.body as { credentialId: string };
    await expectInside(await login.post('/api/refresh', { credentialId, force: true }), email);
  });

  describe.skipIf(!isInstalled(DOVECOT))('with a mailbox', () => {
    let imap: object;
    beforeAll(async () => {
      server = await startDovecot();
      const { port } = server;
      imap = { type: 'imap', host: '127.0.0.1', port, secure: false, username: mail, password: MAIL_PASSWORD };
    });
    afterAll(async () => {
      await server?.stop();
      server = undefined;
    });

    test.each(['otp_email', 'magic_link'])('reads what %s needs from it', async (loginMethod) => {
      const additionalFields = { allowedDomains: ['example.com'] };
      await expectInside(await ask(loginMethod, { username: mail, mailbox: imap }, { additionalFields }), mail);
      expect(mailbox.sentEmails).toHaveLength(1);
    });
  });

  // Its button is among the others, and nobody here has a passkey. Last, so that all attempts above are counted.
  test('has asked for no passkey', () => {
    expect(countAttempts(running, ({ path }) => path === '/login/passkey')).toBe(0);
  });
});
