import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FORM_SITES } from '../support/login-sites/forms.ts';
import { PICKER_SITE, PUSH_SITE, approve } from '../support/login-sites/between.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import { STEP_SITES, sentEmails } from '../support/login-sites/steps.ts';
import { byPassword, replay, startTestLogin } from './harness.ts';
import type { TestLogin } from './harness.ts';

let sites: LoginSites;
let login: TestLogin;

beforeAll(async () => {
  const classic = FORM_SITES.filter(({ name }) => name === 'classic');
  sites = await startLoginSites([...classic, ...STEP_SITES, PICKER_SITE, PUSH_SITE]);
  login = await startTestLogin();
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

type Record = {
  id: string;
  state: string;
  status: string;
  action: { challengeId: string; kind: string; fields: string[]; options: { id: string; label: string }[] } | null;
  error: { error: string; details?: object } | null;
  session?: { cookies: { name: string; value: string }[]; username?: string; userAgent?: string; signs?: string[] };
};

const get = async (id: string) => (await login.call('GET', `/api/logins/${id}`)).body as Record;
const start = async (body: object) => (await login.post('/api/logins', body)).body as Record;
const right = (name: string) => byPassword(sites.url(name), USER, PASSWORD);

async function reach(id: string, ...states: string[]): Promise<Record> {
  await expect.poll(async () => states.includes((await get(id)).state)).toBe(true);
  return get(id);
}

describe('a login without an open call', () => {
  test('ends with its session in the record', async () => {
    const begun = await login.post('/api/logins', right('classic'));
    expect([begun.status, begun.body['state'], begun.body['object']]).toEqual([202, 'running', 'login']);
    const { id } = begun.body as Record;
    expect(begun.headers.get('location')).toBe(`/api/logins/${id}`);
    const done = await reach(id, 'succeeded', 'failed');
    expect(done).toMatchObject({
      state: 'succeeded',
      status: 'succeeded',
      cache: 'miss',
      usernameHint: 'a•••@example.com',
    });
    expect(done.session?.signs).toContain('account');
    expect(done.session?.userAgent).toContain('Chrome');
    expect(await (await replay(sites.protectedUrl('classic'), done.session!)).text()).toContain('Protected');
    const again = await start(right('classic'));
    expect(await reach(again.id, 'succeeded', 'failed')).toMatchObject({ state: 'succeeded', cache: 'hit' });
  });

  test('ends with the error that a waiting call would get', async () => {
    const { id } = await start(byPassword(sites.url('classic'), 'eve@example.com', 'wrong'));
    const { error } = await reach(id, 'succeeded', 'failed');
    expect(error).toMatchObject({ error: 'invalid_credentials', details: { reason: 'wrong_credentials' } });
    const late = await login.post(`/api/logins/${id}/input`, { code: '123456' });
    expect([late.status, late.body['error']]).toEqual([410, 'challenge_expired']);
  });

  test('waits for a code, says how many tries are left, and goes on', async () => {
    const { id } = await start({ domain: sites.url('mail-code'), loginMethod: 'otp_email', cred: { username: USER } });
    const asked = await reach(id, 'awaiting_input', 'failed');
    expect(asked.action).toMatchObject({ kind: 'email_code', hint: 'a***@example.com', fields: ['code'] });
    expect(asked.status).toBe('waiting');
    const picture = await fetch(`${login.url}/api/logins/${id}/picture`, {
      headers: { authorization: `Bearer ${login.key}` },
    });
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
    expect(Buffer.from(await picture.arrayBuffer()).subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
    const wrong = await login.post(`/api/logins/${id}/input`, { code: '000000' });
    expect(wrong.status).toBe(202);
    await expect.poll(async () => (await get(id)).action).toMatchObject({ attemptsLeft: 2 });
    await login.post(`/api/logins/${id}/input`, { code: sentEmails.at(-1)?.code });
    expect((await reach(id, 'succeeded', 'failed')).state).toBe('succeeded');
  });

  test('waits for a choice', async () => {
    const { id } = await start(right('picker'));
    const { action } = await reach(id, 'awaiting_input', 'failed');
    expect(action).toMatchObject({ kind: 'choose_account', fields: ['option'] });
    const bad = await login.post(`/api/logins/${id}/input`, { option: '9' });
    expect([bad.status, bad.body['error']]).toEqual([400, 'validation_error']);
    await login.post(`/api/logins/${id}/input`, { option: action?.options[1]?.id });
    expect((await reach(id, 'succeeded', 'failed')).state).toBe('succeeded');
  });

  test('tells webhooks when it waits, and what came of it', async () => {
    await login.db.query(
      `INSERT INTO webhooks (id, organization_id, url, events, secret)
       SELECT 'whk_logins', id, 'https://hooks.example', '{login.awaiting_input,login.succeeded}', '{}'
       FROM organizations WHERE name = 'default'`,
    );
    const { id } = await start({ ...right('picker'), useCache: false });
    await reach(id, 'awaiting_input', 'failed');
    await login.post(`/api/logins/${id}/input`, { option: 'Globex' });
    await reach(id, 'succeeded', 'failed');
    const { rows } = await login.db.query('SELECT type, data FROM webhook_deliveries ORDER BY position');
    const said = { loginId: id, operation: 'login', error: null, credentialId: null };
    expect(rows).toEqual([
      { type: 'login.awaiting_input', data: { ...said, state: 'awaiting_input', kind: 'choose_account' } },
      { type: 'login.succeeded', data: { ...said, state: 'succeeded', kind: null } },
    ]);
    await login.db.query('DELETE FROM webhooks');
  });

  test('waits for another device, and goes on by itself', async () => {
    const { id } = await start(right('push'));
    const { action } = await reach(id, 'awaiting_external_action', 'failed');
    expect(action).toMatchObject({ kind: 'push', fields: ['done'] });
    approve();
    expect((await reach(id, 'succeeded', 'failed')).state).toBe('succeeded');
  });

  test('is reported as events until it ends', async () => {
    const { id } = await start(right('classic'));
    const stream = await fetch(`${login.url}/api/logins/${id}/events`, {
      headers: { authorization: `Bearer ${login.key}` },
    });
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    const text = await stream.text();
    const states = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => (JSON.parse(data) as Record).state);
    expect(states.at(-1)).toBe('succeeded');
  });
});

test('a call that waits is a view of the same record', async () => {
  const cred = { username: USER };
  const asked = await login.post('/api/login', { domain: sites.url('mail-code'), loginMethod: 'otp_email', cred });
  const id = asked.headers.get('x-login-id') ?? '';
  const { challengeId } = asked.body['details'] as { challengeId: string };
  expect((await get(id)).action?.challengeId).toBe(challengeId);
  const waiting = await login.call('GET', '/api/logins?status=waiting');
  expect((waiting.body['data'] as Record[]).map((each) => each.id)).toEqual([id]);
  const done = await login.post(`/api/challenges/${challengeId}`, { code: sentEmails.at(-1)?.code });
  expect([done.status, done.headers.get('x-login-id')]).toEqual([200, id]);
  expect((await get(id)).state).toBe('succeeded');
});

test('logins are listed by cursor, newest first, to their organization alone', async () => {
  const ids = [];
  for (const password of ['wrong-1', 'wrong-2']) {
    const { id } = await start(byPassword(sites.url('classic'), 'list@example.com', password));
    await reach(id, 'failed');
    ids.unshift(id);
  }
  const first = await login.call('GET', '/api/logins?limit=1&state=failed');
  const { nextCursor } = first.body['pagination'] as { nextCursor: string };
  const second = await login.call('GET', `/api/logins?limit=1&state=failed&cursor=${nextCursor}`);
  expect([first, second].flatMap(({ body }) => (body['data'] as Record[]).map(({ id }) => id))).toEqual(ids);
  const other = await login.makeKey('other');
  expect((await login.call('GET', '/api/logins', undefined, other)).body['data']).toEqual([]);
  for (const path of ['', '/trace', '/events', '/picture']) {
    expect((await login.call('GET', `/api/logins/${ids[0]}${path}`, undefined, other)).status).toBe(404);
  }
});

test('the trace of a failed login names what was seen, and no text or value', async () => {
  const { id } = await start(byPassword(sites.url('classic'), 'canary@example.com', 'canary-password'));
  await reach(id, 'failed');
  const { body } = await login.call('GET', `/api/logins/${id}/trace`);
  const entries = body['entries'] as {
    kind: string;
    fields: string[];
    signals: string[];
    page: string;
    action: string;
  }[];
  expect(entries[0]).toMatchObject({
    kind: 'login',
    reason: 'fill',
    page: sites.url('classic'),
    action: 'act-on-page',
  });
  expect(entries[0]?.fields).toEqual(expect.arrayContaining(['username', 'password', 'submit']));
  expect(entries.at(-1)).toMatchObject({ action: 'fail' });
  expect(entries.at(-1)?.signals).toContain('message: wrong-credentials');
  expect(JSON.stringify(body)).not.toContain('canary');
});

test('a login can be ended and forgotten', async () => {
  const { id } = await start(right('picker'));
  await reach(id, 'awaiting_input');
  expect((await login.call('DELETE', `/api/logins/${id}`)).status).toBe(200);
  expect((await login.call('GET', `/api/logins/${id}`)).status).toBe(404);
  await expect.poll(() => login.fleet.count()).toEqual({ inUse: 0, paused: 0, waiting: 0 });
});

test('a login whose process has ended says so', async () => {
  await login.db.query(
    `INSERT INTO logins (id, organization_id, operation, origin, method, owner, state, alive_until)
     SELECT 'lgn_gone', id, 'login', 'https://example.com', 'password', 'wrk_gone', 'awaiting_input', now() - interval '1 second'
     FROM organizations WHERE name = 'default'`,
  );
  const gone = await get('lgn_gone');
  expect([gone.state, gone.error]).toMatchObject([
    'failed',
    { error: 'challenge_expired', details: { reason: 'browser_gone' } },
  ]);
  const { status, body } = await login.post('/api/logins/lgn_gone/input', { code: '123456' });
  expect([status, body['details']]).toEqual([410, { reason: 'browser_gone' }]);
});
