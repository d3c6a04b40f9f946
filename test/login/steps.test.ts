import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SCRIPT_SITES } from '../support/login-sites/scripts.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { STEP_SITES, TOTP_SECRET, sentEmails } from '../support/login-sites/steps.ts';
import { byPassword, replay, startTestLogin } from './harness.ts';
import type { Answer, TestLogin } from './harness.ts';

let sites: LoginSites;
let login: TestLogin;

beforeAll(async () => {
  sites = await startLoginSites([...STEP_SITES, ...SCRIPT_SITES]);
  login = await startTestLogin();
});
afterAll(async () => {
  await login.close();
  await sites.close();
});
beforeEach(() => {
  sites.reset();
  sentEmails.length = 0;
});

const sessionOf = ({ body }: Answer) => body as { cookies: { name: string; value: string }[] };
const nameOf = ({ name }: { name: string }) => name;
const BY_PASSWORD = ['two-pages', 'digest', ...SCRIPT_SITES.map(nameOf)];

async function expectSignedIn(name: string, answer: Answer): Promise<void> {
  expect([answer.status, answer.body['error'], answer.body['details']]).toEqual([200, undefined, undefined]);
  const page = await replay(sites.protectedUrl(name), sessionOf(answer));
  expect(await page.text()).toContain('Protected');
}

test.each(BY_PASSWORD.filter((name) => name !== 'token'))('%s: the right password', async (name) => {
  await expectSignedIn(name, await login.post('/api/login', byPassword(sites.url(name), USER, PASSWORD)));
  expect(sites.accounts(name).attempts).toEqual([{ username: USER, ok: true }]);
});

test('token: what stands outside cookies comes as storage state', async () => {
  const { status, body } = await login.post('/api/login', byPassword(sites.url('token'), USER, PASSWORD));
  expect(status).toBe(200);
  expect(body['cookies']).toEqual([]);
  const [origin] = (body as { storageState: { origins: { origin: string; localStorage: { value: string }[] }[] } })
    .storageState.origins;
  expect(body['origins']).toEqual([origin?.origin]);
  const headers = { authorization: `Bearer ${origin?.localStorage[0]?.value}` };
  expect(await (await fetch(sites.protectedUrl('token'), { headers })).text()).toBe('Protected');
});

test.each(BY_PASSWORD)('%s: a wrong password', async (name) => {
  const username = `${name}@example.com`;
  const { status, body } = await login.post('/api/login', byPassword(sites.url(name), username, 'wrong'));
  expect([status, body['error']]).toEqual([422, 'invalid_credentials']);
  expect(sites.accounts(name).attempts).toEqual([{ username, ok: false }]);
});

describe('codes', () => {
  const byTotp = (cred: object) => ({ domain: sites.url('totp'), loginMethod: 'totp', cred });

  test('of an authenticator are made from the secret', async () => {
    const cred = { username: USER, password: PASSWORD, totpSecret: `otpauth://totp/x?secret=${TOTP_SECRET}` };
    await expectSignedIn('totp', await login.post('/api/login', byTotp(cred)));
    expect(sites.accounts('totp').attempts.map(({ ok }) => ok)).toEqual([true, true]);
  });

  test('that are wrong are told, and tried once', async () => {
    const cred = { username: USER, password: PASSWORD, totpSecret: 'AAAABBBBCCCCDDDD' };
    const { status, body } = await login.post('/api/login', { ...byTotp(cred), useCache: false });
    expect([status, body['error']]).toEqual([422, 'invalid_code']);
    expect(sites.accounts('totp').attempts.map(({ ok }) => ok)).toEqual([true, false]);
  });

  test.each([
    ['password-and-mail', 'password'],
    ['mail-code', 'otp_email'],
  ])('of %s are asked for while the page waits', async (name, loginMethod) => {
    const cred = { username: USER, password: PASSWORD };
    const asked = await login.post('/api/login', { domain: sites.url(name), loginMethod, cred });
    expect([asked.status, asked.body['error']]).toEqual([409, 'verification_required']);
    const details = asked.body['details'] as { challengeId: string; kind: string; hint: string; expiresAt: string };
    expect([details.kind, details.hint]).toEqual(['otp_email', 'a***@example.com']);
    const path = `/api/challenges/${details.challengeId}`;

    const other = await login.post(path, { code: '000000' }, await login.makeKey('other'));
    expect([other.status, other.body['error']]).toEqual([404, 'not_found']);
    const wrong = await login.post(path, { code: '000000' });
    expect([wrong.status, wrong.body['error']]).toEqual([422, 'invalid_code']);
    await expectSignedIn(name, await login.post(path, { code: sentEmails.at(-1)?.code }));
    const late = await login.post(path, { code: '000000' });
    expect([late.status, late.body['error']]).toEqual([410, 'challenge_expired']);
  });

  test('that are waited for hold up no other login, neither of the process nor of the organization', async () => {
    const single = await startTestLogin({ fleet: { maxJobs: 1 } });
    const cred = { username: USER };
    const body = { domain: sites.url('mail-code'), loginMethod: 'otp_email', cred, useCache: false };
    const asked = await single.post('/api/login', body);
    expect(asked.body['error']).toBe('verification_required');
    const { challengeId } = asked.body['details'] as { challengeId: string };
    expect(single.fleet.count()).toEqual({ inUse: 0, paused: 1, waiting: 0 });
    const held = `SELECT count(*)::int AS n FROM login_jobs WHERE waiting`;
    expect((await single.db.query(held)).rows).toEqual([{ n: 1 }]);

    await expectSignedIn('spa', await single.post('/api/login', byPassword(sites.url('spa'), USER, PASSWORD)));
    await expectSignedIn(
      'mail-code',
      await single.post(`/api/challenges/${challengeId}`, { code: sentEmails.at(-1)?.code }),
    );
    await expect.poll(() => single.fleet.count()).toEqual({ inUse: 0, paused: 0, waiting: 0 });

    await single.db.query(
      `INSERT INTO login_jobs (id, organization_id, expires_at, waiting)
       SELECT 'job_' || n, (SELECT id FROM organizations WHERE name = 'default'), now() + interval '1 minute', true FROM generate_series(1, 10) n`,
    );
    const tooMany = await single.post('/api/login', body);
    expect([tooMany.status, tooMany.body['details']]).toEqual([429, { reason: 'open_challenges' }]);
    await expectSignedIn(
      'spa',
      await single.post('/api/login', byPassword(sites.url('spa'), USER, PASSWORD, { useCache: false })),
    );
    await single.close();
  });

  test('may be wrong three times', async () => {
    const cred = { username: 'grace@example.com' };
    const body = { domain: sites.url('mail-code'), loginMethod: 'otp_email', cred };
    const asked = await login.post('/api/login', body);
    const { challengeId } = asked.body['details'] as { challengeId: string };
    const codes = [];
    for (const code of ['000000', '000001', '000002', sentEmails.at(-1)?.code]) {
      codes.push((await login.post(`/api/challenges/${challengeId}`, { code })).body['error']);
    }
    expect(codes).toEqual(['invalid_code', 'invalid_code', 'invalid_code', 'challenge_expired']);
    expect(sites.accounts('mail-code').attempts).toHaveLength(3);
  });
});

describe('links', () => {
  const ask = () =>
    login.post('/api/login', {
      domain: sites.url('magic-link'),
      loginMethod: 'magic_link',
      cred: { username: USER },
      useCache: false,
    });

  test('are asked for, and followed in the page that waits', async () => {
    const asked = await ask();
    expect([asked.status, asked.body['error']]).toEqual([409, 'verification_required']);
    const { challengeId, kind } = asked.body['details'] as { challengeId: string; kind: string };
    expect(kind).toBe('magic_link');
    const link = sentEmails.at(-1)?.link;
    await expectSignedIn('magic-link', await login.post(`/api/challenges/${challengeId}`, { link }));
  });

  test('of other sites are not followed', async () => {
    const asked = await ask();
    const { challengeId } = asked.body['details'] as { challengeId: string };
    const { status, body } = await login.post(`/api/challenges/${challengeId}`, { link: 'https://example.org/magic' });
    expect([status, body['error']]).toEqual([400, 'unsafe_domain']);
  });
});
