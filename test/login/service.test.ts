import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FORM_SITES } from '../support/login-sites/forms.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { sentEmails } from '../support/login-sites/steps.ts';
import { SIGNUP_SITE, FAILURE_SITES } from '../support/login-sites/failures.ts';
import { byPassword, replay, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

let sites: LoginSites;
let login: TestLogin;

beforeAll(async () => {
  const classic = FORM_SITES.filter(({ name }) => name === 'classic');
  sites = await startLoginSites([...classic, SIGNUP_SITE, ...FAILURE_SITES.map(({ kind }) => kind)]);
  login = await startTestLogin({ methods: ['password', 'totp', 'otp_email', 'magic_link'] });
});
afterAll(async () => {
  await login.close();
  await sites.close();
});
beforeEach(async () => {
  sites.reset();
  sentEmails.length = 0;
  await login.db.query('DELETE FROM login_sessions');
});

const right = () => byPassword(sites.url('classic'), USER, PASSWORD);
const cacheOf = ({ headers }: { headers: Headers }) => headers.get('x-session-cache');
const age = () => login.db.query(`UPDATE login_sessions SET checked_at = now() - interval '5 minutes'`);

test.each(FAILURE_SITES.map(({ kind, ...rest }) => ({ name: kind.name, ...rest })))(
  '$name ends as $error',
  async ({ name, error, attempts }) => {
    const { status, body } = await login.post(
      '/api/login',
      byPassword(sites.url(name), `${name}@example.com`, PASSWORD),
    );
    expect(body['error']).toBe(error);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body['requestId']).toMatch(/^req_/);
    expect(sites.accounts(name).attempts).toHaveLength(attempts);
  },
);

describe('kept sessions', () => {
  test('are handed out again, to the same question only', async () => {
    const first = await login.post('/api/login', right());
    const again = await login.post('/api/login', right());
    expect([cacheOf(first), cacheOf(again)]).toEqual(['miss', 'hit']);
    expect(again.body).toEqual(first.body);
    expect(sites.accounts('classic').attempts).toHaveLength(1);
    const grouped = await login.post('/api/login', { ...right(), collectionId: 'team' });
    const forced = await login.post('/api/login', { ...right(), useCache: false });
    const foreign = await login.post('/api/login', right(), await login.makeKey('other'));
    expect([grouped, forced, foreign].map(cacheOf)).toEqual(['miss', 'miss', 'miss']);
    expect(sites.accounts('classic').attempts).toHaveLength(4);
  });

  test('are looked at before, and made anew when the site has ended them', async () => {
    await login.post('/api/login', right());
    await age();
    const checked = await login.post('/api/login', right());
    expect(cacheOf(checked)).toBe('revalidated');
    expect(sites.accounts('classic').attempts).toHaveLength(1);
    await age();
    sites.accounts('classic').sessions.clear();
    const anew = await login.post('/api/login', right());
    expect(cacheOf(anew)).toBe('miss');
    const page = await replay(
      sites.protectedUrl('classic'),
      anew.body as { cookies: { name: string; value: string }[] },
    );
    expect(await page.text()).toContain('Protected');
  });

  test('are built once for concurrent callers', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => login.post('/api/login', right())));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(answers.filter((answer) => cacheOf(answer) === 'coalesced')).toHaveLength(5);
    expect(answers.filter((answer) => cacheOf(answer) === 'miss')).toHaveLength(1);
    expect(sites.accounts('classic').attempts).toHaveLength(1);
  });

  test('stand in the database sealed', async () => {
    await login.post('/api/login', right());
    const { rows } = await login.db.query<{ row: string }>('SELECT to_jsonb(t)::text AS row FROM login_sessions t');
    expect(rows).toHaveLength(1);
    const [token = 'none'] = sites.accounts('classic').sessions.keys();
    for (const secret of [token, PASSWORD, USER, 'classic']) expect(rows[0]?.row).not.toContain(secret);
  });
});

describe('bounds', () => {
  test('five failed attempts for a user name of a site, then 429', async () => {
    const url = sites.url('classic');
    const statuses = [];
    for (let count = 0; count < 6; count += 1) {
      statuses.push((await login.post('/api/login', byPassword(url, 'mallory', `wrong-${count}`))).status);
    }
    expect(statuses).toEqual([422, 422, 422, 422, 422, 429]);
    expect(sites.accounts('classic').attempts).toHaveLength(5);
    const refused = await login.post('/api/login', byPassword(url, 'mallory', 'wrong-7'));
    expect(refused.body['error']).toBe('rate_limited');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(600);
    expect((await login.post('/api/login', right())).status).toBe(200);
  });

  test('ten logins of an organization at a time over all replicas', async () => {
    await login.db.query(
      `INSERT INTO login_jobs (id, organization_id, expires_at)
       SELECT 'job_' || n, (SELECT id FROM organizations WHERE name = 'default'), now() + interval '1 minute' FROM generate_series(1, 10) n`,
    );
    const { status, body } = await login.post('/api/login', right());
    expect([status, body['error']]).toEqual([429, 'rate_limited']);
    expect((await login.post('/api/login', right(), await login.makeKey('free'))).status).toBe(200);
    await login.db.query('DELETE FROM login_jobs');
  });

  test('of the request', async () => {
    const big = await login.post('/api/login', { ...right(), additionalFields: { note: 'x'.repeat(70_000) } });
    expect([big.status, big.body['error']]).toEqual([413, 'payload_too_large']);
    const scope = await login.post('/api/login', right(), await login.makeKey('default', ['inference']));
    expect([scope.status, scope.body['error']]).toEqual([403, 'forbidden']);
    const nobody = await login.post('/api/login', right(), 'cap_none');
    expect([nobody.status, nobody.body['error']]).toEqual([401, 'unauthorized']);
    const off = await login.post('/api/login', { ...right(), loginMethod: 'oauth_google' });
    expect([off.status, off.body['error']]).toEqual([501, 'method_not_available']);
    const bare = await login.post('/api/login', {
      domain: 'https://example.com',
      loginMethod: 'oauth_github',
      cred: {},
    });
    expect([bare.status, bare.body['error']]).toEqual([501, 'method_not_available']);
    const foreign = { signup_method: 'oauth', domain: 'https://example.com', cred: {} };
    expect((await login.post('/api/signup', foreign)).status).toBe(501);
    const uninvited = { signup_method: 'invitation', domain: 'https://example.com', cred: { email: 'a@example.com' } };
    const { status, body } = await login.post('/api/signup', uninvited);
    expect([status, body['error'], String(body['message']).startsWith('invite_token')]).toEqual([
      400,
      'validation_error',
      true,
    ]);
  });

  test.each([
    [{}, 'cred: is required; loginMethod: is required; domain: is required'],
    [
      { domain: 'example.com', loginMethod: 'password', cred: { username: 'a', password: 'b' } },
      'domain: must be a full URL',
    ],
    [{ domain: 'https://example.com', loginMethod: 'password', cred: { username: 'a' } }, 'cred.password: is required'],
    [{ domain: 'https://example.com', loginMethod: 'totp', cred: { username: 'a', password: 'b' } }, 'cred.totpSecret'],
  ])('a bad request names the field: %j', async (body, message) => {
    const answer = await login.post('/api/login', body);
    expect([answer.status, answer.body['error']]).toEqual([400, 'validation_error']);
    expect(answer.body['message']).toContain(message);
  });
});

test('the metrics count outcomes of calls, and browsers', async () => {
  const own = await startTestLogin();
  const url = sites.url('classic');
  await own.post('/api/login', byPassword(url, USER, PASSWORD));
  await own.post('/api/login', byPassword(url, USER, PASSWORD));
  await own.post('/api/login', byPassword(url, 'nobody@example.com', 'wrong'));
  const text = await (await fetch(`${own.url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('capstan_login') && !line.endsWith(' 0'));
  expect(lines).toEqual(
    expect.arrayContaining([
      'capstan_login_calls_total{operation="login",outcome="ok",cache="miss"} 1',
      'capstan_login_calls_total{operation="login",outcome="ok",cache="hit"} 1',
      'capstan_login_calls_total{operation="login",outcome="invalid_credentials",cache=""} 1',
      'capstan_login_seconds_count{operation="login"} 1',
      expect.stringMatching(/^capstan_login_browsers [12]$/),
    ]),
  );
  await own.close();
});

describe('signup', () => {
  test('confirms by email, stores the credential, and signs in again on its own', async () => {
    const asked = await login.post('/api/signup', {
      signup_method: 'email',
      domain: sites.url('signup'),
      cred: { email: 'new@example.com' },
      collectionId: 'team',
    });
    expect([asked.status, asked.body['error'], asked.body['message']]).toEqual([
      409,
      'verification_required',
      expect.any(String),
    ]);
    const { challengeId, kind } = asked.body['details'] as { challengeId: string; kind: string };
    expect(kind).toBe('email_verification');
    const done = await login.post(`/api/challenges/${challengeId}`, { link: sentEmails.at(-1)?.link });
    expect([done.status, done.body['error'], done.body['details']]).toEqual([201, undefined, undefined]);
    const { credentialId, expiresAt } = done.body as { credentialId: string; expiresAt: string };
    expect(new Date(expiresAt).getTime()).toBeGreaterThan(Date.now());
    const password = sites.accounts('signup').passwords.get('new@example.com') ?? '';
    expect(password.length).toBeGreaterThanOrEqual(10);
    expect(JSON.stringify(done.body)).not.toContain(password);

    const listed = await login.call('GET', '/api/credentials');
    expect(listed.body['data']).toEqual([
      {
        credentialId,
        domain: sites.url('signup'),
        username: 'new@example.com',
        collectionId: 'team',
        method: 'email',
        health: 'healthy',
        healthCode: null,
        checkedAt: expect.any(String),
        autoRefresh: false,
        nextRefreshAt: null,
        passkeys: 0,
        enrolPasskey: false,
        createdAt: expect.any(String),
        expiresAt,
      },
    ]);
    const kept = await login.post('/api/refresh', { credentialId });
    expect([kept.status, cacheOf(kept), kept.body['credentialId']]).toEqual([200, 'hit', credentialId]);
    sites.accounts('signup').sessions.clear();
    const anew = await login.post('/api/refresh', { credentialId, force: true });
    expect([anew.status, cacheOf(anew)]).toEqual([200, 'miss']);
    const page = await replay(
      sites.protectedUrl('signup'),
      anew.body as { cookies: { name: string; value: string }[] },
    );
    expect(await page.text()).toContain('new@example.com');

    const other = await login.makeKey('other');
    expect((await login.post('/api/refresh', { credentialId }, other)).status).toBe(404);
    expect((await login.call('DELETE', `/api/credentials/${credentialId}`, undefined, other)).status).toBe(404);
    expect((await login.call('DELETE', `/api/credentials/${credentialId}`)).status).toBe(200);
    expect((await login.call('GET', '/api/credentials')).body['data']).toEqual([]);
  });

  test('reports an account that exists already', async () => {
    const body = { signup_method: 'email', domain: sites.url('signup'), cred: { email: USER } };
    const { status, body: answer } = await login.post('/api/signup', body);
    expect([status, answer['error']]).toEqual([409, 'account_exists']);
  });
});
