import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { SIGNUP_SITES } from '../support/login-sites/signups.ts';
import { sentEmails } from '../support/login-sites/steps.ts';
import { replay, startTestLogin } from './harness.ts';
import type { Answer, TestLogin } from './harness.ts';

let sites: LoginSites;
let login: TestLogin;

beforeAll(async () => {
  sites = await startLoginSites(SIGNUP_SITES);
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

const signUp = (name: string) =>
  login.post('/api/signup', {
    signup_method: 'email',
    domain: sites.url(name),
    cred: { email: `${name}@example.com` },
  });

/** The response to a signup, and the page behind the login with its session. */
async function look(name: string, { status, body }: Answer): Promise<[number, string]> {
  if (status !== 201) return [status, JSON.stringify(body)];
  const page = await replay(sites.protectedUrl(name), body as { cookies: { name: string; value: string }[] });
  return [status, await page.text()];
}
const own = (name: string) => [201, expect.stringContaining(`Hello ${name}@example.com`)];

test.each(['silent', 'mute'])('%s: an account that waits for an email is not told as signed in', async (name) => {
  const asked = await signUp(name);
  expect([asked.status, asked.body['error']]).toEqual([409, 'verification_required']);
  const { challengeId, kind } = asked.body['details'] as { challengeId: string; kind: string };
  expect(kind).toBe('email_verification');
  const done = await login.post(`/api/challenges/${challengeId}`, { link: sentEmails.at(-1)?.link });
  expect(await look(name, done)).toEqual(own(name));
});

test.each(['then-login', 'at-once'])('%s: an account that can be used at once is signed in to', async (name) => {
  expect(await look(name, await signUp(name))).toEqual(own(name));
});
