import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { authorize } from '../../../src/inference/credentials/authorize.ts';
import { readServiceAccount } from '../../../src/inference/credentials/service-account.ts';
import { openEgress } from '../../../src/platform/egress/egress.ts';
import { startModelServer } from '../../support/model-server/server.ts';
import type { ModelServer } from '../../support/model-server/server.ts';
import { buildTarget } from '../../support/upstream.ts';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const ACCOUNT = { type: 'service_account', client_email: 'capstan@acme.example', private_key: privateKey };
const METADATA = 'http://169.254.169.254/computeMetadata/v1/';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.requests.length = 0;
});

describe('the key of a service account', () => {
  it('is reduced to what signs', () => {
    const key = {
      ...ACCOUNT,
      private_key_id: 'k1',
      token_uri: 'https://oauth2.googleapis.com/token',
      auth_uri: METADATA,
    };
    expect(readServiceAccount(JSON.stringify(key))).toEqual({ account: { ...ACCOUNT, private_key_id: 'k1' } });
    expect(readServiceAccount(key)).toEqual(readServiceAccount(JSON.stringify(key)));
  });

  it.each([
    ['no JSON', 'nonsense', undefined],
    ['a list', '[]', undefined],
    ['an address of its own for tokens', { ...ACCOUNT, token_uri: METADATA }, 'token_uri'],
    ['another universe', { ...ACCOUNT, universe_domain: 'evil.example' }, 'universe_domain'],
    ['a file to read', { type: 'external_account', credential_source: { file: '/etc/passwd' } }, 'type'],
    ['a program to run', { type: 'external_account', credential_source: { executable: { command: 'id' } } }, 'type'],
    ['no address', { ...ACCOUNT, client_email: '' }, 'client_email'],
    ['a key that is none', { ...ACCOUNT, private_key: 'secret' }, 'private_key'],
  ])('is refused with %s', (_what, key, field) => {
    const read = readServiceAccount(key);
    expect('issue' in read && read.issue.field).toBe(field);
    expect(JSON.stringify(read)).not.toContain('secret');
  });
});

describe('tokens for the credentials of a caller', () => {
  const request = { method: 'POST', origin: 'https://aiplatform.googleapis.com', path: '/', headers: {} };
  const ask = (credentials: object, egress: ReturnType<typeof openEgress>, origin?: string) => {
    const guard =
      origin === undefined
        ? egress.dispatcher
        : egress.dispatcher.compose((dispatch) => (options, handler) => dispatch({ ...options, origin }, handler));
    const google = { project: 'p', location: 'global', credentials: JSON.stringify(credentials) };
    return authorize(buildTarget('generate-content', { google, isGuarded: true }), request, guard);
  };

  test('are fetched through the egress guard', async () => {
    const { origin, host } = new URL(server.url);
    const egress = openEgress({ allow: [host] });
    server.script(() => ({ body: '{"access_token":"token-1","expires_in":3600,"token_type":"Bearer"}' }));
    try {
      expect(await ask(ACCOUNT, egress, origin)).toEqual({ authorization: 'Bearer token-1' });
      expect(server.requests.map(({ path, headers }) => [path, headers.host])).toEqual([['/token', host]]);
    } finally {
      await egress.close();
    }
  });

  test('are not fetched where the guard refuses the address', async () => {
    const egress = openEgress({ allow: [] });
    try {
      await expect(ask(ACCOUNT, egress, new URL(server.url).origin)).rejects.toMatchObject({ code: 'authentication' });
      expect(server.requests).toEqual([]);
    } finally {
      await egress.close();
    }
  });

  test.each([
    ['a service account with an address on this machine', () => ({ ...ACCOUNT, token_uri: `${server.url}/token` })],
    ['a service account with the metadata address', () => ({ ...ACCOUNT, token_uri: METADATA })],
    [
      'an external account',
      () => ({
        type: 'external_account',
        audience: '//iam.googleapis.com/x',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        token_url: `${server.url}/token`,
        credential_source: { url: `${server.url}/subject` },
      }),
    ],
  ])('are not fetched for %s', async (_what, build) => {
    const egress = openEgress({ allow: [] });
    try {
      await expect(ask(build(), egress)).rejects.toMatchObject({ code: 'authentication' });
      expect(server.requests).toEqual([]);
    } finally {
      await egress.close();
    }
  });
});
