import { generateKeyPairSync } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildPasskeySite } from '../support/login-sites/passkeys.ts';
import type { PasskeySite } from '../support/login-sites/passkeys.ts';
import { PASSWORD, USER, startLoginSites } from '../support/login-sites/server.ts';
import type { LoginSites } from '../support/login-sites/server.ts';
import type { Passkey } from '../../src/login/contract/passkeys.ts';
import { unsealSecrets } from '../../src/login/sealed-credentials.ts';
import { findLoginCredential } from '../../src/login/store/credentials.ts';
import { replay, startTestLogin } from './harness.ts';
import type { Answer, TestLogin } from './harness.ts';

const HOST = 'shop.localhost';
const EVIL = 'evil.localhost';
/** In COSE's numbers. */
const ALGORITHMS = { 'ECDSA with P-256': -7, Ed25519: -8, RSA: -257, 'ML-DSA-44': -48 };
const SITES = [
  buildPasskeySite({ name: 'offer', rpId: HOST, after: 'offer' }),
  buildPasskeySite({ name: 'demand', rpId: HOST, after: 'demand' }),
  buildPasskeySite({ name: 'button', rpId: HOST, first: 'button' }),
  buildPasskeySite({ name: 'by-itself', rpId: HOST, first: 'by-itself' }),
  buildPasskeySite({ name: 'name', rpId: HOST, first: 'name', namesKeys: true }),
  buildPasskeySite({ name: 'password', rpId: HOST }),
  buildPasskeySite({ name: 'key', rpId: HOST, after: 'key', namesKeys: true }),
  buildPasskeySite({ name: 'key-by-itself', rpId: HOST, after: 'key-by-itself', namesKeys: true }),
  buildPasskeySite({ name: 'choice', rpId: HOST, after: 'choice' }),
  buildPasskeySite({ name: 'evil', rpId: EVIL, first: 'button' }),
  ...Object.values(ALGORITHMS).map((id) =>
    buildPasskeySite({ name: `alg${id}`, rpId: HOST, after: 'offer', algorithms: [id] }),
  ),
];
const site = (name: string): PasskeySite => SITES.find((each) => each.name === name) ?? SITES[0]!;

let sites: LoginSites;
let login: TestLogin;
const lines: string[] = [];

beforeAll(async () => {
  sites = await startLoginSites(SITES);
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  login = await startTestLogin({ ports: { log }, egress: { resolve: async () => ['127.0.0.1'] } });
});
afterAll(async () => {
  await login.close();
  await sites.close();
});
beforeEach(() => {
  for (const each of SITES) {
    each.keys.length = 0;
    each.log.length = 0;
  }
});

const address = (name: string, host = HOST) => sites.url(name).replace('127.0.0.1', host);
const byPassword = { username: USER, password: PASSWORD };
const outcome = ({ status, body }: Answer) => [status, body['error'], (body['details'] as { reason?: string })?.reason];
const show = async (id: string) => (await login.call('GET', `/api/credentials/${id}`)).body;
const refresh = (credentialId: string) => login.post('/api/refresh', { credentialId, force: true });

async function store(name: string, cred: object, more: object = {}): Promise<string> {
  const made = await login.post('/api/credentials', { domain: address(name), cred, ...more });
  expect([made.status, made.body['message']]).toEqual([201, undefined]);
  return String(made.body['credentialId']);
}

/** The passkeys in the vault. */
async function readStored(id: string): Promise<Passkey[]> {
  const { rows } = await login.db.query<{ id: string }>(`SELECT organization_id AS id FROM login_credentials LIMIT 1`);
  const stored = await findLoginCredential(login.db, rows[0]?.id ?? '', id);
  return (stored && unsealSecrets(login.ports, id, stored).passkeys) ?? [];
}

async function openAccount(name: string, answer: Answer): Promise<string> {
  if (answer.status !== 200) return JSON.stringify(answer.body);
  return (await replay(sites.protectedUrl(name), answer.body as { cookies: [] })).text();
}

/** A passkey that was created in a login at one site, registered at every site. */
async function enrol(at = 'offer'): Promise<Passkey> {
  const id = await store(at, byPassword, { enrolPasskey: true });
  expect(await openAccount(at, await refresh(id))).toContain('Protected');
  const [passkey] = await readStored(id);
  const [key] = site(at).keys;
  if (passkey === undefined || key === undefined) throw new Error('nothing was enrolled');
  for (const each of SITES) if (each.name !== at) each.keys.push({ ...key });
  return passkey;
}

describe('enrolment', () => {
  test.each(['offer', 'demand'])('%s: a passkey is created in the login and stored', async (name) => {
    const id = await store(name, byPassword, { enrolPasskey: true });
    expect(await openAccount(name, await refresh(id))).toContain('Protected');
    expect(site(name).log).toEqual(['enrol: ok']);
    expect(await show(id)).toMatchObject({ passkeys: 1, enrolPasskey: true, health: 'healthy' });
    const [passkey] = await readStored(id);
    expect(passkey).toMatchObject({ rpId: HOST, credentialId: site(name).keys[0]?.id });
    // The next login creates no other.
    expect((await refresh(id)).status).toBe(200);
    expect(await readStored(id)).toHaveLength(1);
  });

  test('without the setting an offer is skipped, and a demand is told', async () => {
    expect(await openAccount('offer', await refresh(await store('offer', byPassword)))).toContain('Protected');
    expect(outcome(await refresh(await store('demand', byPassword)))).toEqual([422, 'enrolment_required', 'enrolment']);
    expect([site('offer').keys, site('demand').keys]).toEqual([[], []]);
  });
});

describe('sign-in', () => {
  test.each(Object.entries(ALGORITHMS))('with a passkey of %s', async (_, id) => {
    const passkey = await enrol(`alg${id}`);
    const credential = await store('button', { username: USER, passkeys: [passkey] });
    expect(await openAccount('button', await refresh(credential))).toContain('Protected');
  });

  test.each(['button', 'by-itself', 'name', 'password'])('%s: with the passkey alone', async (name) => {
    const passkey = await enrol();
    const id = await store(name, { username: USER, passkeys: [passkey] });
    const answer = await refresh(id);
    expect(await openAccount(name, answer)).toContain('Protected');
    expect(site(name).log.filter((line) => !line.startsWith('failed'))).toEqual(['sign: ok']);
  });

  test.each(['key', 'key-by-itself', 'choice'])('%s: as the second factor', async (name) => {
    const passkey = await enrol();
    const answer = await refresh(await store(name, { ...byPassword, passkeys: [passkey] }));
    expect(await openAccount(name, answer)).toContain('Protected');
    expect(site(name).log).toEqual(['sign: ok']);
  });

  test('without a passkey the page is told as before', async () => {
    expect(outcome(await refresh(await store('button', byPassword)))).toEqual([422, 'passkey_required', 'no_form']);
    const { status, body } = await refresh(await store('key', byPassword));
    expect([status, body['error'], (body['details'] as { kind: string }).kind]).toEqual([
      409,
      'action_required',
      'security_key',
    ]);
  });
});

describe('refusals', () => {
  test.each(['button', 'name'])('%s: a key that was removed at the site is told', async (name) => {
    const passkey = await enrol();
    site(name).keys.length = 0;
    const id = await store(name, { username: USER, passkeys: [passkey] });
    expect(outcome(await refresh(id))).toEqual([422, 'invalid_credentials', 'passkey_refused']);
    expect(await show(id)).toMatchObject({ health: 'needs_attention', healthCode: 'invalid_credentials' });
  });

  test('a page that names other keys gets no signature', async () => {
    const passkey = await enrol();
    const [key] = site('key').keys;
    site('key').keys.splice(0, 1, { ...key!, id: 'AAAAAAAAAAAAAAAAAAAAAA' });
    const id = await store('key', { ...byPassword, passkeys: [passkey] });
    expect(outcome(await refresh(id))).toEqual([422, 'passkey_required', 'passkey_unknown']);
    expect(site('key').log).toEqual(['failed: NotAllowedError']);
  });

  test('a counter that goes back is refused by the site and told; that of the vault never does', async () => {
    const passkey = await enrol();
    const id = await store('button', { username: USER, passkeys: [passkey] });
    expect((await refresh(id)).status).toBe(200);
    const [after] = await readStored(id);
    expect(after?.signCount).toBeGreaterThan(passkey.signCount);
    const back = { cred: { passkeys: [{ ...passkey, signCount: 0 }] } };
    expect((await login.call('PATCH', `/api/credentials/${id}`, back)).status).toBe(200);
    expect((await readStored(id))[0]?.signCount).toBe(after?.signCount);
    expect((await refresh(id)).status).toBe(200);

    const copy = await store('button', { passkeys: [{ ...passkey, signCount: 0 }] });
    expect(outcome(await refresh(copy))).toEqual([422, 'invalid_credentials', 'passkey_refused']);
    expect(site('button').log.at(-1)).toContain('counter');
  });

  test('two logins at once count on', async () => {
    const id = await store('button', { username: USER, passkeys: [await enrol()] });
    const answers = await Promise.all([refresh(id), refresh(id)]);
    expect(answers.map(outcome)).toEqual([
      [200, undefined, undefined],
      [200, undefined, undefined],
    ]);
    expect(site('button').log).toEqual(['sign: ok', 'sign: ok']);
  });

  test.each([
    ['button', 'SecurityError'],
    ['evil', 'NotAllowedError'],
  ])('a page of another origin gets no signature, whichever domain it names: %s', async (name, error) => {
    const passkey = await enrol();
    const made = await login.post('/api/credentials', {
      domain: address(name, EVIL),
      additionalFields: { allowedDomains: [HOST] },
      cred: { passkeys: [passkey] },
    });
    expect(made.status).toBe(201);
    const answer = await refresh(String(made.body['credentialId']));
    expect(outcome(answer)).toEqual([422, 'passkey_required', 'passkey_unknown']);
    expect(site(name).log).toEqual([`failed: ${error}`]);
  });

  test('a passkey of another domain or without a usable key is not stored', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp384r1' });
    const other = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64url');
    const passkey = await enrol();
    for (const [wrong, field] of [
      [{ ...passkey, rpId: 'bank.example' }, 'rpId'],
      [{ ...passkey, rpId: 'localhost' }, 'rpId'],
      [{ ...passkey, privateKey: other }, 'privateKey'],
      [{ ...passkey, privateKey: 'AAAA' }, 'privateKey'],
    ] as const) {
      const { status, body } = await login.post('/api/credentials', {
        domain: address('button'),
        cred: { passkeys: [wrong] },
      });
      expect([status, body['error']]).toEqual([400, 'validation_error']);
      expect(body['message']).toContain(`cred.passkeys.0.${field}`);
      expect(body['message']).not.toContain(other);
    }
  });
});

test('nothing of a passkey is in answers, traces, logs or the database', async () => {
  lines.length = 0;
  const passkey = await enrol();
  const id = await store('button', { username: USER, passkeys: [passkey] });
  const listed = await login.call('GET', '/api/logins');
  const answers = [await refresh(id), await login.call('GET', '/api/credentials'), listed];
  for (const each of listed.body['data'] as { id: string }[]) {
    answers.push(await login.call('GET', `/api/logins/${each.id}`));
  }
  const tables = ['login_credentials', 'logins', 'login_sessions'];
  const rows = await Promise.all(
    tables.map((name) => login.db.query(`SELECT to_jsonb(t)::text AS row FROM ${name} t`)),
  );
  const shown = JSON.stringify([answers.map(({ body }) => body), rows.map((each) => each.rows), lines]);
  expect(lines.length).toBeGreaterThan(0);
  for (const field of ['privateKey', 'credentialId', 'userHandle'] as const) {
    const text = passkey[field] ?? '';
    const encodings = [text, Buffer.from(text, 'base64url').toString('base64')];
    for (const each of encodings) expect([field, shown.includes(each)]).toEqual([field, false]);
  }
});
