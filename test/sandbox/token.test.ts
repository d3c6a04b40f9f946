import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildAuthorizer } from '../../sandbox-image/executor/receive/token.ts';
import { startServer } from '../../sandbox-image/executor/server.ts';
import type { ExecutorServer } from '../../sandbox-image/executor/server.ts';
import { readSettings } from '../../sandbox-image/executor/settings.ts';
import { openExecutorClient } from '../../src/sandbox/executor/client.ts';
import { buildSigner } from '../../src/sandbox/executor/token.ts';
import { findFreePort } from '../support/services/process.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');
const signer = buildSigner(KEY);
const scratch = mkdtempSync(join(tmpdir(), 'capstan-token-'));
let server: ExecutorServer;
let port: number;

beforeAll(async () => {
  port = await findFreePort();
  const settings = readSettings(
    [
      ['--listen', `127.0.0.1:${port}`, '--workspace', scratch, '--state-dir', join(scratch, '.state')],
      ['--rg', rgPath, '--public-key', signer.publicKey, '--audience', 'pod-1'],
    ].flat(),
  );
  if (settings.trust === undefined) throw new Error('no trust');
  server = await startServer(settings, buildAuthorizer(settings.trust));
});
afterAll(async () => {
  await server?.close();
  rmSync(scratch, { recursive: true, force: true });
});

const call = async (token: string | undefined) => {
  const headers = (): Record<string, string> => (token === undefined ? {} : { authorization: `Bearer ${token}` });
  const client = openExecutorClient({ target: { host: '127.0.0.1', port }, headers }, scratch);
  try {
    return await client.call('usage', {});
  } finally {
    client.close();
  }
};

test('a call signed for this executor is done', async () => {
  expect(await call(signer.sign('pod-1'))).toEqual({ usedBytes: expect.any(Number) });
});

const hour = 3_600_000;
const [payload = '', signature = ''] = signer.sign('pod-1').split('.');
const forged = Buffer.from(JSON.stringify({ aud: 'pod-1', exp: 9e9 })).toString('base64url');

test.each([
  ['without a token', undefined],
  ['signed for another executor', signer.sign('pod-2')],
  ['signed by another key', buildSigner(Buffer.alloc(32, 8).toString('base64')).sign('pod-1')],
  ['whose token has expired', buildSigner(KEY, () => Date.now() - hour).sign('pod-1')],
  ['whose token was changed', `${forged}.${signature}`],
  ['whose signature was changed', `${payload}.${Buffer.alloc(64).toString('base64url')}`],
  ['without a signature', payload],
  ['with a payload that is none', 'AAAA.AAAA'],
])('a call %s is refused', async (_, token) => {
  await expect(call(token)).rejects.toThrow(/not authorized/);
});

test('only the health endpoint is public', async () => {
  const ask = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${port}${path}`, { method });
  expect(await (await ask('/healthz')).json()).toMatchObject({ status: 'ok', workspace: scratch });
  for (const path of ['/v1/notices', '/v1/files?path=x', '/other']) expect((await ask(path)).status).toBe(401);
  expect((await ask('/v1/calls/1', 'DELETE')).status).toBe(401);
});

test('an executor on TCP without a key does not start', async () => {
  const settings = readSettings(['--listen', '127.0.0.1:0', '--workspace', scratch]);
  expect(settings.trust).toBeUndefined();
  await expect(startServer(settings)).rejects.toThrow('needs a way to tell its callers');
});
