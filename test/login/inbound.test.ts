import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPosted } from '../../src/login/mailbox/posted.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { buildAsking } from '../support/login-sites/asking.ts';
import { buildStranger } from '../support/login-sites/strangers.ts';
import { damage } from '../support/foreign-bytes.ts';
import { fc } from '../support/property.ts';
import { byPassword, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

const RAW =
  'From: Site <no-reply@site.example>\r\nTo: ada@example.com\r\nSubject: Your code\r\n\r\nYour code is 492039.';
const multipart = (fields: Record<string, string>) => {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `${parts.join('')}--x--\r\n`;
};

const EMAILS: readonly [name: string, type: string, body: string][] = [
  ['a raw message', 'message/rfc822', RAW],
  ['a raw message without a type', '', RAW],
  ['SendGrid, raw', 'multipart/form-data; boundary=x', multipart({ to: 'ada@example.com', email: RAW, dkim: 'pass' })],
  [
    'SendGrid, parsed',
    'multipart/form-data; boundary=x',
    multipart({
      to: 'Ada <ada@example.com>',
      from: 'Site <no-reply@site.example>',
      subject: 'Your code',
      text: 'Your code is 492039.',
    }),
  ],
  [
    'Mailgun',
    'application/x-www-form-urlencoded',
    new URLSearchParams({
      recipient: 'ada@example.com',
      sender: 'no-reply@site.example',
      subject: 'Your code',
      'body-plain': 'Your code is 492039.',
      'stripped-text': 'Your code',
    }).toString(),
  ],
  [
    'Postmark',
    'application/json',
    JSON.stringify({
      From: 'no-reply@site.example',
      FromFull: { Email: 'no-reply@site.example', Name: 'Site' },
      To: '"Ada" <ada@example.com>',
      Subject: 'Your code',
      TextBody: '',
      HtmlBody: '<p>Your code is <b>492039</b>.</p>',
      Attachments: [{ Name: 'from.txt', Content: 'x' }],
    }),
  ],
  [
    'Resend',
    'application/json',
    JSON.stringify({
      type: 'email.received',
      data: {
        from: 'no-reply@site.example',
        to: ['ada@example.com'],
        subject: 'Your code',
        text: 'Your code is 492039.',
      },
    }),
  ],
  [
    'Amazon SES by SNS',
    'text/plain; charset=UTF-8',
    JSON.stringify({
      Type: 'Notification',
      Message: JSON.stringify({ notificationType: 'Received', content: Buffer.from(RAW).toString('base64') }),
    }),
  ],
];

test.each(EMAILS)('an email posted as %s is read', async (_name, type, body) => {
  const email = await readPosted(type, new TextEncoder().encode(body));
  expect(email).toMatchObject({
    channel: 'email',
    from: 'site.example',
    to: ['ada@example.com'],
    subject: 'Your code',
  });
  expect(email?.text).toContain('492039');
});

const MESSAGES: readonly [name: string, type: string, body: string][] = [
  [
    'Twilio',
    'application/x-www-form-urlencoded',
    new URLSearchParams({ From: '+15550100', To: '+15550101', Body: '492039 is your code', NumMedia: '0' }).toString(),
  ],
  ['Vonage', 'application/json', JSON.stringify({ msisdn: '15550100', to: '15550101', text: '492039 is your code' })],
  [
    'Telnyx',
    'application/json',
    JSON.stringify({
      data: {
        payload: { from: { phone_number: '+1555' }, to: [{ phone_number: '+1556' }], text: '492039 is your code' },
      },
    }),
  ],
];

test.each(MESSAGES)('a text message posted by %s is read', async (_name, type, body) => {
  const message = await readPosted(type, new TextEncoder().encode(body));
  expect(message).toMatchObject({ channel: 'sms', text: '492039 is your code' });
});

const withFile = (type: string) =>
  multipart({ subject: 'Your code' }).replace(
    '--x--',
    `--x\r\ncontent-disposition: form-data; name="email"; filename="a"\r\ncontent-type: ${type}\r\n\r\n${RAW}\r\n--x--`,
  );

test.each([
  ['message/rfc822', ['ada@example.com']],
  ['text/plain', []],
])('of the files of a form, messages count: %s', async (type, to) => {
  const email = await readPosted('multipart/form-data; boundary=x', new TextEncoder().encode(withFile(type)));
  expect(email).toMatchObject({ channel: 'email', subject: 'Your code', to });
});

test('a damaged form is read or refused', async () => {
  const whole = Buffer.from(withFile('message/rfc822'));
  const read = (bytes: Buffer) => readPosted('multipart/form-data; boundary=x', bytes);
  const property = fc.asyncProperty(damage(whole), async (bytes) => void (await read(bytes)));
  await expect(fc.assert(property, { numRuns: 200 })).resolves.toBeUndefined();
});

test.each([
  ['application/json', '[]'],
  ['application/json', '{"hello":1}'],
  ['', 'no message at all'],
  ['multipart/form-data', 'no boundary'],
])('what holds no message is none: %s %s', async (type, body) => {
  expect(await readPosted(type, new TextEncoder().encode(body))).toBeUndefined();
});

describe('a login whose mailbox others post to', () => {
  let sites: LoginSites;
  let login: TestLogin;
  let mailbox: { mailboxId: string; url: string };
  const post = (type: string, body: string) =>
    fetch(mailbox.url, { method: 'POST', headers: { 'content-type': type }, body });
  const email = (code: string, site = '127.0.0.1') =>
    `From: no-reply@other.example\r\nTo: ${USER}\r\nSubject: http://${site}/\r\n\r\nYour code is ${code}.`;

  beforeAll(async () => {
    login = await startTestLogin();
    mailbox = (await login.post('/api/mailboxes', {})).body as typeof mailbox;
    const byEmail = async () => {
      await post('message/rfc822', email('777777', 'elsewhere.example'));
      await post('message/rfc822', email('492039'));
    };
    const bySms = () => post('application/x-www-form-urlencoded', 'From=%2B1555&Body=492039+is+your+code');
    sites = await startLoginSites(
      [
        buildAsking('by-email', 'We sent a code to your e-mail address.', byEmail),
        buildAsking('by-sms', 'We sent a text message with a code to your phone ending in 42.', bySms),
      ].map(buildStranger),
    );
  });
  afterAll(async () => {
    await login.close();
    await sites.close();
  });

  test.each(['by-email', 'by-sms'])('%s: the code is typed', async (name) => {
    await post('message/rfc822', email('111111'));
    const cred = { username: USER, password: PASSWORD, mailbox: { type: 'webhook', mailboxId: mailbox.mailboxId } };
    const { status, body } = await login.post('/api/login', { ...byPassword(sites.url(name), USER, PASSWORD), cred });
    expect([status, body['error'], body['details']]).toEqual([200, undefined, undefined]);
  });

  test('takes nothing at an address that was not signed, and nothing that holds no message', async () => {
    const unsigned = mailbox.url.replace(/\.[^.]+$/, '.0000');
    expect((await fetch(unsigned, { method: 'POST', body: RAW })).status).toBe(404);
    expect((await post('application/json', '{}')).status).toBe(400);
  });

  test('is of one organization', async () => {
    const key = await login.makeKey('another');
    const cred = { username: USER, password: PASSWORD, mailbox: { type: 'webhook', mailboxId: mailbox.mailboxId } };
    await login.post('/api/mailboxes', {}, key);
    const order = { ...byPassword(sites.url('by-sms'), USER, PASSWORD), cred, timeoutSeconds: 12 };
    const { status, body } = await login.post('/api/login', order, key);
    expect([status, body['details']]).toEqual([409, expect.objectContaining({ kind: 'otp_sms', mailbox: 'nothing' })]);
  });
});
