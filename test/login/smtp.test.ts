import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readMailAddress, signMailAddress } from '../../src/login/mailbox/address.ts';
import { openMailListener } from '../../src/login/mailbox/smtp.ts';
import type { MailListener } from '../../src/login/mailbox/smtp.ts';
import { newId } from '../../src/platform/ids.ts';
import { buildMasterKeys } from '../../src/platform/master-key.ts';
import { makeCertificate } from '../support/certificate.ts';
import { buildAsking } from '../support/login-sites/asking.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { buildStranger } from '../support/login-sites/strangers.ts';
import { MASTER_KEY } from '../support/vaults.ts';
import { byPassword, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

const DOMAIN = 'codes.example';
const HOUR_MS = 3_600_000;

test('the address of a mailbox names it in at most 64 characters, in any case', () => {
  const keys = buildMasterKeys(MASTER_KEY);
  const mailbox = { organizationId: newId('org'), mailboxId: newId('mbx') };
  const address = signMailAddress(keys, mailbox, DOMAIN);
  expect(address).toMatch(/^[0-9a-z]{64}@codes\.example$/);
  expect(readMailAddress(keys, address.toUpperCase(), DOMAIN)).toEqual(mailbox);
  const other = signMailAddress(keys, { ...mailbox, mailboxId: newId('mbx') }, DOMAIN);
  const mixed = `${address.slice(0, 52)}${other.slice(52)}`;
  for (const wrong of [mixed, address.replace(DOMAIN, 'other.example'), `${address}@x`, `@${DOMAIN}`, '', 'root']) {
    expect(readMailAddress(keys, wrong, DOMAIN)).toBeUndefined();
  }
});

describe('a listener for emails to mailboxes', () => {
  let sites: LoginSites;
  let login: TestLogin;
  let listener: MailListener;
  let mailbox: { mailboxId: string; address: string };

  const send = async (to: string | string[], text: string) => {
    const client = createTransport({ host: '127.0.0.1', port: listener.port, secure: false, ignoreTLS: true });
    const envelope = { from: 'no-reply@site.example', to };
    const raw = `From: no-reply@other.example\r\nTo: ${USER}\r\nSubject: http://127.0.0.1/\r\n\r\n${text}`;
    const info = await client.sendMail({ envelope, raw });
    return info.rejectedErrors?.map(({ responseCode }) => responseCode) ?? [];
  };
  const countMessages = async () => (await login.db.query('SELECT id FROM login_messages')).rows.length;

  beforeAll(async () => {
    login = await startTestLogin({ ports: { mailDomain: DOMAIN } });
    listener = await openMailListener(login.ports, { host: '127.0.0.1', port: 0, domain: DOMAIN });
    mailbox = (await login.post('/api/mailboxes', {})).body as typeof mailbox;
    const byEmail = () => send(mailbox.address, 'Your code is 492039.');
    sites = await startLoginSites([
      buildStranger(buildAsking('by-email', 'We sent a code to your e-mail address.', byEmail)),
    ]);
  });
  afterAll(async () => {
    await listener.close();
    await login.close();
    await sites.close();
  });

  test('a login gets its code from an email, and from none that came before', async () => {
    await send(mailbox.address, 'Your code is 111111.');
    const cred = { username: USER, password: PASSWORD, mailbox: { type: 'webhook', mailboxId: mailbox.mailboxId } };
    const order = { ...byPassword(sites.url('by-email'), USER, PASSWORD), cred };
    const { status, body } = await login.post('/api/login', order);
    expect([status, body['error'], body['details']]).toEqual([200, undefined, undefined]);
  });

  test('unknown recipients, large messages, many recipients and many messages are refused', async () => {
    const before = await countMessages();
    await expect(send(`root@${DOMAIN}`, 'x')).rejects.toMatchObject({ responseCode: 550 });
    await expect(send(USER, 'x')).rejects.toMatchObject({ responseCode: 550 });
    await expect(send(mailbox.address, 'x'.repeat(2 * 1024 * 1024))).rejects.toMatchObject({ responseCode: 552 });
    expect(await countMessages()).toBe(before);
    const eleven = await Promise.all(Array.from({ length: 11 }, () => login.post('/api/mailboxes', {})));
    const addresses = eleven.map(({ body }) => String(body['address']));
    expect(await send(addresses, 'x')).toEqual([452]);
    expect(await countMessages()).toBe(before + 10);
    const { mailboxId, address } = (await login.post('/api/mailboxes', {})).body as typeof mailbox;
    await login.ports.limits.take(`login-mail:${mailboxId}`, 30, 30, HOUR_MS);
    await expect(send(address, 'x')).rejects.toMatchObject({ responseCode: 451 });
  });

  test('offers STARTTLS with a certificate, and not without', async () => {
    const { cert, key } = makeCertificate();
    const options = { host: '127.0.0.1', port: 0, domain: DOMAIN, tls: { cert, key } };
    const secured = await openMailListener(login.ports, options);
    const sendSecured = (port: number) =>
      createTransport({ host: '127.0.0.1', port, secure: false, requireTLS: true, tls: { ca: cert } }).sendMail({
        from: 'no-reply@site.example',
        to: mailbox.address,
        text: 'Your code is 333333.',
      });
    expect((await sendSecured(secured.port)).accepted).toEqual([mailbox.address]);
    await secured.close();
    await expect(sendSecured(listener.port)).rejects.toMatchObject({ code: 'ETLS' });
  });

  test('emails are stored sealed', async () => {
    await send(mailbox.address, 'Your code is 222222.');
    const { rows } = await login.db.query<{ sealed: string }>('SELECT sealed FROM login_messages');
    expect(rows.filter(({ sealed }) => sealed.includes('Your code'))).toEqual([]);
    expect(rows).not.toEqual([]);
  });
});
