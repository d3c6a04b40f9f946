// The free-space floor below which writes are rejected: src/platform/storage-floor.ts, and everything that depends on
// it.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spawnServer } from '../support/crash/server.ts';
import type { ServerProcess } from '../support/crash/server.ts';
import { canMount, mountSmallDisk } from '../support/small-disk.ts';
import type { SmallDisk } from '../support/small-disk.ts';

const KEY = 'cap_key_of_a_server_on_a_small_disk';
const MIB = 1024 * 1024;
const AGENT = {
  name: 'small',
  modelName: 'script/demo',
  systemPrompt: '',
  skills: [],
  tools: [],
  rateLimits: { conversationsPerMinute: 300, messagesPerMinute: 1000 },
};

describe.runIf(canMount)('a server whose disk fills up', () => {
  let disk: SmallDisk;
  let server: ServerProcess;
  let url: string;
  let agentId: string;

  async function start(): Promise<void> {
    server = spawnServer({
      role: 'all',
      env: {
        TMPDIR: join(disk.folder, 'tmp'),
        CAPSTAN_DATA_DIR: disk.folder,
        CAPSTAN_API_KEY: KEY,
        CAPSTAN_STORAGE_FLOOR_MIB: '48',
        CAPSTAN_STORAGE_FLOOR_PERCENT: '0',
      },
    });
    const ready = await server.ready;
    if (!('url' in ready)) throw new Error(server.output());
    ({ url } = ready);
  }

  async function call(method: string, path: string, body?: unknown) {
    const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    const retryAfter = response.headers.get('retry-after');
    return { status: response.status, retryAfter, body: (await response.json()) as Record<string, unknown> };
  }
  const createSession = () => call('POST', '/v1/sessions', { agentId, subjectId: 'somebody' });
  const readState = async () => (await call('GET', '/readyz')).body['status'];

  beforeAll(async () => {
    const mounted = mountSmallDisk(400);
    if (mounted === undefined) throw new Error('no disk');
    disk = mounted;
    mkdirSync(join(disk.folder, 'tmp'));
    await start();
    const agent = await call('POST', '/v1/agents', AGENT);
    agentId = String(agent.body['id']);
    await createSession();
  });
  afterAll(async () => {
    server.signal('SIGKILL');
    await server.ended;
    disk.close();
  });

  test('refuses writes below the floor, and goes on reading', async () => {
    expect(await readState()).toBe('ok');
    disk.leave(32 * MIB);
    await expect.poll(createSession).toMatchObject({ status: 503, retryAfter: '10', body: { error: 'storage_full' } });
    expect((await call('GET', '/v1/sessions')).body).toMatchObject({ data: [{ agentId }] });
    expect((await call('GET', '/readyz')).body).toMatchObject({
      status: 'storage_full',
      storage: { state: 'full', floorBytes: 48 * MIB, freeBytes: expect.any(Number) },
    });
  });

  test('starts and serves reads while there is no space to write', async () => {
    server.signal('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, signal: null });
    await start();
    await expect.poll(createSession).toMatchObject({ status: 503, body: { error: 'storage_full' } });
    expect((await call('GET', `/v1/agents/${agentId}`)).status).toBe(200);
  });

  test('accepts writes again once there is space', async () => {
    disk.leave(128 * MIB);
    await expect.poll(createSession).toMatchObject({ status: 201 });
    expect(await readState()).toBe('ok');
  });
});
