import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { buildHeldSite } from '../support/login-sites/held.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { byPassword, startTestLogin } from './harness.ts';

const [finished, late] = [buildHeldSite('finished'), buildHeldSite('late')];
let sites: LoginSites;

beforeAll(async () => {
  sites = await startLoginSites([finished.kind, late.kind]);
});
afterAll(() => sites.close());

/** Two logins at the site, neither done: a call that waits for one, and one without an open call. */
async function openLogins({ kind, hold }: typeof finished, drainMs: number) {
  const login = await startTestLogin({ ports: { drainMs } });
  onTestFinished(() => login.close());
  const order = { ...byPassword(sites.url(kind.name), USER, PASSWORD), useCache: false, timeoutSeconds: 180 };
  const call = login.post('/api/login', order);
  await expect.poll(() => hold.asked).toBe(true);
  hold.asked = false;
  const { body } = await login.post('/api/logins', order);
  await expect.poll(() => hold.asked).toBe(true);
  const readState = async () => {
    const sql = 'SELECT state, error FROM logins WHERE id = $1';
    return (await login.db.query<{ state: string; error: { error: string } | null }>(sql, [body['id']])).rows[0];
  };
  return { login, call, readState };
}

test('a service that ends lets its logins come to their end', async () => {
  const { login, call, readState } = await openLogins(finished, 120_000);
  const stopped = login.stop();
  finished.hold.release();
  expect((await call).status).toBe(200);
  await stopped;
  expect(await readState()).toMatchObject({ state: 'succeeded' });
});

test('those that take too long end with an error, not with a broken connection', async () => {
  const { login, call, readState } = await openLogins(late, 1);
  const stopped = login.stop();
  const { status, body } = await call;
  expect([status, body['error']]).toEqual([503, 'capacity']);
  await stopped;
  expect(await readState()).toMatchObject({ state: 'failed' });
  late.hold.release();
});
