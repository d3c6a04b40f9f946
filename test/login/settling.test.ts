import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { NEW_PASSWORD_SITE, buildHeldSite } from '../support/login-sites/held.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { byPassword, startTestLogin } from './harness.ts';
import type { Answer, TestLogin } from './harness.ts';

const right = buildHeldSite('held-right');
const wrong = buildHeldSite('held-wrong');
let sites: LoginSites;
let login: TestLogin;

beforeAll(async () => {
  sites = await startLoginSites([right.kind, wrong.kind, NEW_PASSWORD_SITE]);
  login = await startTestLogin();
});
afterEach(() => {
  right.hold.release();
  wrong.hold.release();
});
afterAll(async () => {
  await login.close();
  await sites.close();
});

/** With all the time that a login may have: a busy machine needs more than the usual minute. */
const signIn = (name: string, password: string, username = USER) =>
  login.post('/api/login', byPassword(sites.url(name), username, password, { timeoutSeconds: 180 }));

/** Resolves once the site has seen something of a login that still goes on. Fails if the login ends before. */
async function whileOpen(answer: Promise<Answer>, isSeen: () => boolean): Promise<void> {
  let ended: Answer | undefined;
  void answer.then((given) => {
    ended = given;
  });
  await expect.poll(() => isSeen() || ended !== undefined).toBe(true);
  expect(ended?.body).toBeUndefined();
}

test('a page that still waits for an answer is not judged by the form that it shows', async () => {
  const answer = signIn('held-right', PASSWORD);
  await whileOpen(answer, () => right.hold.ticks >= 6);
  right.hold.release();
  const { status, body } = await answer;
  expect([status, body['error'], body['details']]).toEqual([200, undefined, undefined]);
  expect(sites.accounts('held-right').attempts).toEqual([{ username: USER, ok: true }]);
});

test('the same page is a refusal once it has its answer', async () => {
  const answer = signIn('held-wrong', 'wrong', 'eve@example.com');
  await whileOpen(answer, () => wrong.hold.asked);
  wrong.hold.release();
  const { status, body } = await answer;
  expect([status, body['error']]).toEqual([422, 'invalid_credentials']);
  expect(sites.accounts('held-wrong').attempts).toEqual([{ username: 'eve@example.com', ok: false }]);
});

test('a form for a new password is no login form, however late it is observed', async () => {
  const { status, body } = await signIn('new-password', PASSWORD);
  expect([status, body['error'], body['details']]).toEqual([200, undefined, undefined]);
  const refused = await signIn('new-password', 'wrong', 'eve@example.com');
  expect([refused.status, refused.body['error']]).toEqual([422, 'invalid_credentials']);
});
