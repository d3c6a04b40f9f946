import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BETWEEN, PASSED, PICKER_SITE, PUSH_SITE, REFUSALS, approve } from '../support/login-sites/between.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { byPassword, replay, startTestLogin } from './harness.ts';
import type { Answer, TestLogin } from './harness.ts';

let sites: LoginSites;
let login: TestLogin;

beforeAll(async () => {
  const refusals = REFUSALS.map(({ kind }) => kind);
  sites = await startLoginSites([...BETWEEN.map(({ kind }) => kind), ...PASSED, ...refusals, PUSH_SITE, PICKER_SITE]);
  login = await startTestLogin();
});
afterAll(async () => {
  await login.close();
  await sites.close();
});

const signIn = (name: string, password = PASSWORD, username = USER) =>
  login.post('/api/login', byPassword(sites.url(name), username, password));
const outcome = ({ status, body }: Answer) => [status, body['error']];

/** The text of the page behind the login, with the session of an answer. */
async function openProtected(name: string, answer: Answer): Promise<string> {
  if (answer.status !== 200) return JSON.stringify(answer.body);
  const session = answer.body as { cookies: { name: string; value: string }[] };
  return (await replay(sites.protectedUrl(name), session)).text();
}

describe('after the right password', () => {
  test.each(BETWEEN.map(({ kind, ...rest }) => ({ name: kind.name, ...rest })))(
    '$name is $error',
    async ({ name, status, error, details }) => {
      // A different account each: waiting logins count as attempts.
      const user = `${name}@right.example`;
      sites.accounts(name).passwords.set(user, PASSWORD);
      const answer = await signIn(name, PASSWORD, user);
      expect(outcome(answer)).toEqual([status, error]);
      expect(answer.body['details']).toMatchObject(details ?? {});
      expect(sites.accounts(name).attempts).toEqual([{ username: user, ok: true }]);
      const { rows } = await login.db.query('SELECT key FROM login_sessions');
      expect(rows).toEqual([]);
    },
  );

  test.each(BETWEEN.map(({ kind }) => kind.name))('%s: a wrong password is told', async (name) => {
    expect(outcome(await signIn(name, 'wrong', `${name}@example.com`))).toEqual([422, 'invalid_credentials']);
  });

  test.each(PASSED.map(({ name }) => name))('%s is passed', async (name) => {
    expect(await openProtected(name, await signIn(name))).toContain('Protected');
    await login.db.query('DELETE FROM login_sessions');
  });

  test('a push approval is awaited, and the page continues on its own', async () => {
    const asked = await signIn('push');
    expect(outcome(asked)).toEqual([409, 'action_required']);
    const { challengeId, kind } = asked.body['details'] as { challengeId: string; kind: string };
    expect(kind).toBe('push');
    approve();
    expect(await openProtected('push', await login.post(`/api/challenges/${challengeId}`, { done: true }))).toContain(
      'Protected',
    );
  });

  test('an organization is chosen by the caller', async () => {
    const asked = await signIn('picker');
    const { challengeId } = asked.body['details'] as { challengeId: string };
    const path = `/api/challenges/${challengeId}`;
    expect(outcome(await login.post(path, { option: 'Initech' }))).toEqual([400, 'validation_error']);
    expect(await openProtected('picker', await login.post(path, { option: 'Globex' }))).toContain('Protected');
  });
});

describe('after a wrong password', () => {
  test.each(REFUSALS.map(({ kind, error }) => ({ name: kind.name, error })))(
    '$name is $error',
    async ({ name, error }) => {
      expect(outcome(await signIn(name, 'wrong', `${name}@example.com`))).toEqual([422, error]);
      expect(sites.accounts(name).attempts).toEqual([{ username: `${name}@example.com`, ok: false }]);
    },
  );

  test.each(REFUSALS.map(({ kind }) => kind.name))('%s: the right password is in', async (name) => {
    expect(await openProtected(name, await signIn(name))).toContain('Protected');
  });
});

describe('proof named by the caller', () => {
  const named = (name: string, additionalFields: object, password = PASSWORD) =>
    login.post('/api/login', { ...byPassword(sites.url(name), USER, password), additionalFields, useCache: false });

  test('proves a success', async () => {
    expect(await openProtected('home', await named('home', { successUrl: '/home/account' }))).toContain('Protected');
    expect(await openProtected('home', await named('home', { successSelector: 'a[href$=logout]' }))).toContain(
      'Protected',
    );
  });

  test('is the only proof', async () => {
    expect(outcome(await named('home', { successSelector: '#never' }))).toEqual([422, 'login_unproven']);
    expect(outcome(await named('home', { successUrl: '/elsewhere' }))).toEqual([422, 'login_unproven']);
  });
});
