import { Writable } from 'node:stream';
import tls from 'node:tls';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestLogin } from '../login/harness.ts';
import type { Answer, TestLogin } from '../login/harness.ts';
import { PASSWORD, countAttempts, isInstalled, startApp } from './app.ts';
import type { RunningApp } from './app.ts';
import { FLASK, FLASK_LINKS, PEOPLE } from './apps/flask.ts';
import { DOVECOT, MAIL_PASSWORD, startDovecot } from './dovecot.ts';
import type { MailServer } from './dovecot.ts';
import { posts } from './front.ts';
import { findInMail, openMailbox } from './mail.ts';
import type { Mailbox } from './mail.ts';

const SENDER = 'site@example.com';
/** Additional emails that arrive after each email. */
let companions: { from: string; to: string; text: string }[] = [];
/** The emails themselves do not arrive. */
let keepsAway = false;

const write = ({ from, to, text }: (typeof companions)[number]) =>
  `From: ${from}\r\nTo: ${to}\r\nSubject: Your code\r\n\r\n${text}\r\n`;

describe.skipIf(!isInstalled(DOVECOT) || !isInstalled(FLASK))('a mailbox', () => {
  let mail: MailServer;
  let smtp: Mailbox;
  let login: TestLogin;
  let running: RunningApp;
  let links: RunningApp;
  let logged = '';

  beforeAll(async () => {
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        logged += chunk.toString();
        done();
      },
    });
    login = await startTestLogin({ ports: { log: pino({ level: 'trace' }, stream) } });
    mail = await startDovecot();
    smtp = await openMailbox((to, email) => {
      if (!keepsAway) mail.deliver(to, email);
      for (const other of companions) mail.deliver(to, write(other));
    });
    running = await startApp(FLASK, smtp.port);
    links = await startApp(FLASK_LINKS, smtp.port);
  });
  afterAll(async () => {
    await links.stop();
    await running.stop();
    await smtp.close();
    await mail.stop();
    await login.close();
  });
  beforeEach(() => {
    companions = [];
    keepsAway = false;
    smtp.sentEmails.length = 0;
  });

  const boxOf = (username: string, more: object = {}) => ({
    type: 'imap',
    host: '127.0.0.1',
    port: mail.port,
    secure: false,
    username,
    password: MAIL_PASSWORD,
    ...more,
  });
  const ask = (mailbox: object, more: object = {}) =>
    login.post('/api/login', {
      domain: `${running.url}/login`,
      loginMethod: 'password',
      cred: { username: PEOPLE.mail, password: PASSWORD, mailbox },
      // The emails contain no address; the caller names the sender's domain.
      additionalFields: { allowedDomains: ['example.com'] },
      useCache: false,
      ...more,
    });
  /** The text of the page behind the login with the session; else the error. */
  const lookInside = async ({ body }: Answer, at: RunningApp): Promise<string> => {
    if (body['error'] !== undefined) return JSON.stringify(body);
    const { cookies } = body as { cookies: { name: string; value: string }[] };
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    return (await fetch(`${at.url}/account`, { headers: { cookie } })).text();
  };
  /** Why the caller was asked, and the callback that takes the answer. */
  const readAsked = ({ status, body }: Answer) => {
    const { challengeId, kind, mailbox } = (body['details'] ?? {}) as Record<string, string>;
    return { asked: [status, body['error'], kind, mailbox], challenge: `/api/challenges/${challengeId}` };
  };
  const askedFor = (trouble: string) => [409, 'verification_required', 'otp_email', trouble];
  const findSent = () => findInMail(smtp, PEOPLE.mail, /\b\d{6}\b/);

  test('gives the code of the email that came after the password, was for the account and of the site', async () => {
    const { mail: to } = PEOPLE;
    mail.deliver(to, write({ from: SENDER, to, text: 'Your code is 111111' }));
    companions = [
      { from: 'bank@bank.example.net', to, text: 'Your code is 222222' },
      { from: SENDER, to: 'somebody@example.com', text: 'Your code is 333333' },
      { from: SENDER, to, text: 'Your order of 20260101 is on its way' },
    ];
    expect(await lookInside(await ask(boxOf(to)), running)).toContain(`For ${to}`);
    expect(running.front.knocks.filter(posts('/tf-validate')).map(({ body }) => /code=(\d+)/.exec(body)?.[1])).toEqual([
      findSent(),
    ]);
  });

  test('gives the link of a site that has no passwords', async () => {
    const cred = { username: PEOPLE.password, mailbox: boxOf(PEOPLE.password) };
    const domain = `${links.url}/login`;
    companions = [{ from: SENDER, to: PEOPLE.password, text: 'Sign in: http://127.0.0.2/login/token-of-another-site' }];
    const answer = await login.post('/api/login', { domain, loginMethod: 'magic_link', cred });
    expect(await lookInside(answer, links)).toContain(`For ${PEOPLE.password}`);
  });

  test('confirms an account that is made, and is kept with it, sealed', async () => {
    const email = 'mailbox@example.com';
    const body = { signup_method: 'email', domain: `${running.url}/register`, cred: { email, mailbox: boxOf(email) } };
    const done = await login.post('/api/signup', body);
    expect(done.status).toBe(201);
    expect(await lookInside(done, running)).toContain(`For ${email}`);
    const { rows } = await login.db.query<{ row: string }>('SELECT to_jsonb(t)::text AS row FROM login_credentials t');
    expect(rows).toHaveLength(1);
    const list = JSON.stringify((await login.call('GET', '/api/credentials')).body);
    for (const text of [rows[0]!.row, list, JSON.stringify(done.body)]) {
      expect(text).not.toContain(MAIL_PASSWORD);
      expect(text).not.toContain(Buffer.from(MAIL_PASSWORD).toString('hex'));
    }
  });

  test.each<[string, object, string]>([
    ['lets nobody in', { password: 'wrong' }, 'refused'],
    ['lacks the folder', { folder: 'Nowhere' }, 'refused'],
    ['is not there', { port: 9 }, 'unreachable'],
    ['speaks another protocol', { secure: true }, 'unreachable'],
  ])('that %s leaves the question to the caller', async (_name, more, trouble) => {
    const { asked, challenge } = readAsked(await ask(boxOf(PEOPLE.mail, more)));
    expect(asked).toEqual(askedFor(trouble));
    expect(await lookInside(await login.post(challenge, { code: findSent() }), running)).toContain(
      `For ${PEOPLE.mail}`,
    );
  });

  test('to which no email comes is not waited for longer than the login has', async () => {
    keepsAway = true;
    const { asked, challenge } = readAsked(await ask(boxOf(PEOPLE.mail), { timeoutSeconds: 20 }));
    expect(asked).toEqual(askedFor('nothing'));
    expect(await lookInside(await login.post(challenge, { code: findSent() }), running)).toContain(
      `For ${PEOPLE.mail}`,
    );
  });

  test('whose code is wrong is not tried again', async () => {
    keepsAway = true;
    companions = [{ from: SENDER, to: PEOPLE.mail, text: 'Your code is 000000' }];
    const before = countAttempts(running, posts('/tf-validate'));
    const { asked, challenge } = readAsked(await ask(boxOf(PEOPLE.mail)));
    expect(asked).toEqual(askedFor('wrong'));
    expect(countAttempts(running, posts('/tf-validate')) - before).toBe(1);
    expect(await lookInside(await login.post(challenge, { code: findSent() }), running)).toContain(
      `For ${PEOPLE.mail}`,
    );
  });

  test('of an address that is not public is not asked', async () => {
    const { status, body } = await ask(boxOf(PEOPLE.mail, { host: '10.1.2.3' }));
    expect([status, body['error'], body['details']]).toEqual([
      400,
      'unsafe_domain',
      { reason: 'private_address', field: 'cred.mailbox.host' },
    ]);
    expect((await ask(boxOf(PEOPLE.mail, { port: 0 }))).body['message']).toContain('cred.mailbox.port');
  });

  test('is opened by TLS where its certificate is good, and not else', async () => {
    const sealed = await startDovecot({ tls: true });
    const own = tls.getCACertificates('default');
    try {
      const mailbox = boxOf(PEOPLE.mail, { port: sealed.port, secure: true });
      expect(readAsked(await ask(mailbox)).asked).toEqual(askedFor('unreachable'));
      tls.setDefaultCACertificates([...own, sealed.certificate!]);
      keepsAway = true;
      expect(readAsked(await ask(mailbox, { timeoutSeconds: 20 })).asked).toEqual(askedFor('nothing'));
    } finally {
      tls.setDefaultCACertificates(own);
      await sealed.stop();
    }
  });

  test('and its password stand in no log', () => {
    expect(logged).toContain('a mailbox could not be opened');
    for (const secret of [MAIL_PASSWORD, PASSWORD, Buffer.from(MAIL_PASSWORD).toString('base64')]) {
      expect(logged).not.toContain(secret);
    }
  });
});
