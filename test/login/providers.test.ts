import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOGIN_METHODS } from '../../src/login/contract/shapes.ts';
import { PROVIDERS, buildRelying } from '../support/login-sites/providers.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { replay, startTestLogin } from './harness.ts';
import type { Answer, TestLogin } from './harness.ts';

/** Another host, as the pages of a provider are. */
const ELSEWHERE = '127.0.0.2';

let providers: LoginSites;
let sites: LoginSites;
let login: TestLogin;

const providerUrl = (name: string) => `http://${ELSEWHERE}:${providers.port}/${name}`;

beforeAll(async () => {
  providers = await startLoginSites(PROVIDERS, { host: ELSEWHERE });
  sites = await startLoginSites([buildRelying(providerUrl)]);
  login = await startTestLogin({ methods: LOGIN_METHODS });
});
afterAll(async () => {
  await login.close();
  await providers.close();
  await sites.close();
});

const BY_NAME = { oauth_google: 'google', oauth_github: 'github', oauth_microsoft: 'microsoft' } as const;

function signIn(loginMethod: string, provider: object, { username = USER, password = PASSWORD } = {}) {
  const cred = { username, password, identityProvider: provider };
  const order = { domain: sites.url('relying'), loginMethod, cred, useCache: false, timeoutSeconds: 180 };
  return login.post('/api/login', order);
}
const outcome = ({ status, body }: Answer) => [status, body['error']];
const open = async ({ body }: Answer) =>
  (await replay(sites.protectedUrl('relying'), body as { cookies: { name: string; value: string }[] })).text();

describe.each(Object.entries(BY_NAME))('%s', (method, name) => {
  test('the right password is in, with the session of the site alone', async () => {
    const answer = await signIn(method, { url: providerUrl(name) });
    expect([...outcome(answer), answer.body['details']]).toEqual([200, undefined, undefined]);
    expect(await open(answer)).toContain(`Of ${USER}`);
    const { cookies } = answer.body as { cookies: { domain: string }[] };
    expect(cookies.map(({ domain }) => domain)).toEqual(['127.0.0.1']);
    expect(providers.accounts(name).attempts).toEqual([{ username: USER, ok: true }]);
  });

  test('a wrong password is told, after one attempt', async () => {
    providers.reset();
    const answer = await signIn(method, { url: providerUrl(name) }, { password: 'wrong' });
    expect(outcome(answer)).toEqual([422, 'invalid_credentials']);
    expect(providers.accounts(name).attempts).toEqual([{ username: USER, ok: false }]);
  });
});

test('nothing is typed into the form of the site', () => {
  expect(sites.accounts('relying').attempts).toEqual([]);
});

test('an account that the site does not know is told', async () => {
  const username = 'unlinked@example.com';
  providers.accounts('github').passwords.set(username, PASSWORD);
  const answer = await signIn('oauth_github', { url: providerUrl('github') }, { username });
  expect(outcome(answer)).toEqual([422, 'invalid_credentials']);
});

test('a provider of the caller, which asks for consent', async () => {
  const asked = await signIn('oauth', { url: providerUrl('google-consent'), name: 'Acme ID' });
  expect([...outcome(asked), asked.body['details']]).toEqual([
    409,
    'action_required',
    expect.objectContaining({ kind: 'consent' }),
  ]);
  const { challengeId } = asked.body['details'] as { challengeId: string };
  const answer = await login.post(`/api/challenges/${challengeId}`, { option: 'Allow' });
  expect(await open(answer)).toContain(`Of ${USER}`);
});

test('a button that is not there, and what is missing', async () => {
  const absent = await signIn('oauth', { url: providerUrl('github'), name: 'Initech' });
  expect([...outcome(absent), absent.body['details']]).toEqual([
    422,
    'login_form_not_found',
    expect.objectContaining({ reason: 'no_provider_button' }),
  ]);
  const cred = { username: USER, password: PASSWORD };
  const nowhere = await login.post('/api/login', { domain: sites.url('relying'), loginMethod: 'oauth', cred });
  expect([...outcome(nowhere), nowhere.body['message']]).toEqual([
    400,
    'validation_error',
    'cred.identityProvider: is required',
  ]);
});

test('a stored credential signs in again', async () => {
  const cred = { username: USER, password: PASSWORD, identityProvider: { url: providerUrl('github') } };
  const stored = await login.post('/api/credentials', {
    domain: sites.url('relying'),
    loginMethod: 'oauth_github',
    cred,
  });
  expect(stored.status).toBe(201);
  const answer = await login.post('/api/refresh', { credentialId: stored.body['credentialId'], timeoutSeconds: 180 });
  expect(await open(answer)).toContain(`Of ${USER}`);
});
