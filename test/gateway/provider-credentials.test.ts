import { generateKeyPairSync } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildGateway } from '../../src/gateway/server.ts';
import { openLiveProviders } from '../../src/gateway/providers/live-providers.ts';
import type { LiveProviders } from '../../src/gateway/providers/live-providers.ts';
import { openInference } from '../../src/inference/inference.ts';
import type { GatewayInference } from '../../src/inference/inference.ts';
import { openEgress } from '../../src/platform/egress/egress.ts';
import type { Egress } from '../../src/platform/egress/egress.ts';
import { buildMasterKeys } from '../../src/platform/master-key.ts';
import { createKey } from '../../src/platform/store/keys.ts';
import { openTestBackends } from '../support/backends.ts';
import type { TestBackends } from '../support/backends.ts';
import { startModelServer } from '../support/model-server/server.ts';
import type { ModelServer, RecordedRequest, ScriptedAnswer } from '../support/model-server/server.ts';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const ACCOUNT = { type: 'service_account', client_email: 'capstan@acme.example', private_key: privateKey };
const GOOGLE = { project: 'acme-1', location: 'europe-west4', credentials: ACCOUNT };
const AWS = {
  region: 'eu-central-1',
  accessKeyId: 'AKIAACMEACMEACMEACME',
  secretAccessKey: 'aws/secret+of/acme/0123456789',
  sessionToken: 'aws+session/token=of=acme',
};
/** What no response, row or audit record may have. */
const SECRETS = [AWS.accessKeyId, AWS.secretAccessKey, AWS.sessionToken, ACCOUNT.client_email, 'PRIVATE KEY'];

type Body = { id: string; message: string; probe: unknown };

const masterKeys = buildMasterKeys(Buffer.alloc(32, 1).toString('base64'));
let backends: TestBackends;
let upstream: ModelServer;
let egress: Egress;
let live: LiveProviders;
let inference: GatewayInference;
let app: FastifyInstance;
let key: string;

/** The guard, with Google's token service at the test server. */
function openGuard(): Egress {
  const { host, origin } = new URL(upstream.url);
  const opened = openEgress({ allow: [host] });
  const dispatcher = opened.dispatcher.compose(
    (dispatch) => (options, handler) => dispatch(options.path === '/token' ? { ...options, origin } : options, handler),
  );
  return { ...opened, dispatcher };
}

beforeAll(async () => {
  backends = await openTestBackends();
  upstream = await startModelServer();
  egress = openGuard();
  live = await openLiveProviders({ ...backends, masterKeys });
  inference = openInference({
    providers: {},
    models: {},
    log: backends.log,
    retry: { attempts: 1 },
    organizations: live,
    guard: egress.dispatcher,
  });
  app = buildGateway({ ...backends, inference, providers: { live, masterKeys, egress } });
  await app.ready();
  ({ key } = await createKey(backends.db, { name: 'k', organization: 'acme', scopes: ['admin', 'inference'] }));
});
afterAll(async () => {
  await app.close();
  await live.close();
  await inference.close();
  await egress.close();
  await upstream.close();
  await backends.close();
});

const AWS_ERROR = (type: string, status = 403): ScriptedAnswer => ({
  status,
  headers: { 'x-amzn-errortype': type },
  body: '{"message":"no"}',
});

function answerProbe({ path }: RecordedRequest): ScriptedAnswer {
  if (path === '/token') return { body: '{"access_token":"token-1","expires_in":3600,"token_type":"Bearer"}' };
  if (path.endsWith(':countTokens')) return { body: '{"totalTokens":1}' };
  return path.endsWith('/converse') ? AWS_ERROR('ValidationException', 400) : {};
}
beforeEach(() => {
  upstream.requests.length = 0;
  upstream.script(answerProbe);
});

async function ask(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, body?: unknown) {
  const answer = await app.inject({
    method,
    url,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  return { status: answer.statusCode, text: answer.body, body: answer.json<Body>() };
}

const create = (body: object) => ask('POST', '/v1/providers', body);
const bedrock = (more: object = {}) => ({ name: 'rock', preset: 'bedrock', baseUrl: upstream.url, aws: AWS, ...more });
const vertex = (more: object = {}) => ({
  name: 'vert',
  preset: 'vertex',
  baseUrl: upstream.url,
  google: GOOGLE,
  ...more,
});
const chat = (model: string) =>
  ask('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] });
const pickAuthorization = () => upstream.requests.map(({ path, headers }) => [path, headers.authorization]);

async function expectSealed(...texts: string[]): Promise<void> {
  const { rows } = await backends.db.query('SELECT * FROM model_providers');
  const { rows: audit } = await backends.db.query('SELECT * FROM audit_records');
  for (const text of [...texts, JSON.stringify(rows), JSON.stringify(audit)]) {
    for (const secret of SECRETS) expect(text).not.toContain(secret);
  }
}

describe('an own provider on Bedrock', () => {
  it('has AWS keys, which sign its calls from the first one on', async () => {
    const made = await create(bedrock());
    expect(made).toMatchObject({
      status: 201,
      body: {
        format: 'converse',
        hasKey: true,
        aws: { region: 'eu-central-1' },
        google: null,
        probe: { status: 'ok' },
      },
    });
    expect((await chat('rock/amazon.nova-pro-v1:0')).status).toBe(200);
    expect(upstream.requests).toHaveLength(2);
    for (const { headers } of upstream.requests) {
      expect(headers.authorization).toContain(`AWS4-HMAC-SHA256 Credential=${AWS.accessKeyId}/`);
      expect(headers.authorization).toContain('/eu-central-1/bedrock/');
      expect(headers['x-amz-security-token']).toBe(AWS.sessionToken);
    }
    const read = await ask('GET', `/v1/providers/${made.body.id}`);
    expect(read.body).toEqual(made.body);
    await expectSealed(made.text, read.text);
    await ask('DELETE', `/v1/providers/${made.body.id}`);
  });

  it('gets new keys, or an API key instead', async () => {
    const made = await create(bedrock({ probe: false }));
    const url = `/v1/providers/${made.body.id}`;
    const keys = { accessKeyId: 'AKIANEWNEWNEWNEWNEWN', secretAccessKey: 'another' };
    expect((await ask('PATCH', url, { aws: keys })).status).toBe(200);
    expect(upstream.requests.at(-1)?.headers.authorization).toContain(`Credential=${keys.accessKeyId}/`);
    expect(upstream.requests.at(-1)?.headers['x-amz-security-token']).toBeUndefined();
    expect((await ask('PATCH', url, { apiKey: 'bedrock-api-key' })).status).toBe(200);
    expect(upstream.requests.at(-1)?.headers.authorization).toBe('Bearer bedrock-api-key');
    expect((await ask('PATCH', url, { google: { credentials: ACCOUNT } })).body.message).toContain('body.google: ');
    await ask('DELETE', url);
  });

  it.each([
    ['UnrecognizedClientException', 'body.aws.accessKeyId: '],
    ['InvalidSignatureException', 'body.aws.secretAccessKey: '],
    ['ExpiredTokenException', 'body.aws.sessionToken: '],
    ['AccessDeniedException', 'body.aws: '],
  ])('is refused when AWS answers %s', async (type, field) => {
    upstream.script(() => AWS_ERROR(type));
    const refused = await create(bedrock());
    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining(field) } });
    expect(refused.body.message).toContain(type);
  });
});

describe('an own provider on Vertex AI', () => {
  it('has a service account, whose tokens come through the guard', async () => {
    const made = await create(vertex());
    expect(made).toMatchObject({
      status: 201,
      body: {
        format: 'generate-content',
        hasKey: true,
        google: { project: 'acme-1', location: 'europe-west4' },
        aws: null,
        probe: { status: 'ok' },
      },
    });
    upstream.requests.length = 0;
    for (let call = 0; call < 2; call += 1) expect((await chat('vert/gemini-2.5-flash')).status).toBe(200);
    const stream = '/v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse';
    expect(pickAuthorization()).toEqual([
      ['/token', undefined],
      [stream, 'Bearer token-1'],
      [stream, 'Bearer token-1'],
    ]);
    const given = await create(vertex({ name: 'text', google: { ...GOOGLE, credentials: JSON.stringify(ACCOUNT) } }));
    expect(given.status).toBe(201);
    await expectSealed(made.text, given.text);
    for (const { body } of [made, given]) await ask('DELETE', `/v1/providers/${body.id}`);
  });

  it('is refused when Google refuses the account or the project', async () => {
    upstream.script(({ path }) => (path === '/token' ? { status: 400, body: '{"error":"invalid_grant"}' } : {}));
    expect((await create(vertex())).body.message).toContain('body.google.credentials: The provider rejects');
    const denied = { error: { code: 403, status: 'PERMISSION_DENIED', message: 'no' } };
    upstream.script((request) =>
      request.path === '/token' ? answerProbe(request) : { status: 403, body: JSON.stringify(denied) },
    );
    const refused = await create(vertex());
    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('PERMISSION_DENIED') } });
    expect(refused.body.message).toContain('body.google.credentials: ');
  });
});

it.each([
  [
    'keys of AWS without the secret',
    () => bedrock({ aws: { ...AWS, secretAccessKey: undefined } }),
    'aws.secretAccessKey',
  ],
  ['a region alone', () => bedrock({ aws: { region: 'eu-central-1' } }), 'aws.accessKeyId'],
  ['a region that is an address', () => bedrock({ aws: { ...AWS, region: 'x.evil.example/' } }), 'aws.region'],
  ['two kinds of credentials', () => bedrock({ apiKey: 'k' }), 'aws: must not be set together with apiKey'],
  ['keys of AWS for another format', () => ({ ...bedrock(), preset: 'openai' }), 'aws: is for'],
  ['a variable of the server', () => bedrock({ aws: { region: 'eu-central-1', accessKeyIdEnv: 'PATH' } }), 'aws'],
  ['a project alone', () => vertex({ google: { project: 'acme-1' } }), 'google.credentials'],
  ['a file of the server', () => vertex({ google: { project: 'acme-1', credentialsFile: '/etc/passwd' } }), 'google'],
  [
    'a token service on this machine',
    () => vertex({ google: { ...GOOGLE, credentials: { ...ACCOUNT, token_uri: `${upstream.url}/token` } } }),
    'google.credentials.token_uri',
  ],
  [
    'a token service at the metadata address',
    () => vertex({ google: { ...GOOGLE, credentials: { ...ACCOUNT, token_uri: 'http://169.254.169.254/' } } }),
    'google.credentials.token_uri',
  ],
  [
    'credentials that read a file',
    () =>
      vertex({ google: { ...GOOGLE, credentials: { type: 'external_account', credential_source: { file: '/x' } } } }),
    'google.credentials.type',
  ],
])('%s is refused, and the field is named', async (_what, build, field) => {
  const refused = await create(build());
  expect(refused.status).toBe(400);
  expect(refused.body.message).toContain(field);
  expect(upstream.requests).toEqual([]);
  await expectSealed(refused.text);
});
