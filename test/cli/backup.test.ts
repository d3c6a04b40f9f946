import { rmSync, writeFileSync } from 'node:fs';
import { readFile, readdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { spawnServer } from '../support/crash/server.ts';
import type { ServerProcess } from '../support/crash/server.ts';
import { buildApi } from '../support/chat.ts';
import { makeScratch } from '../support/scratch.ts';
import { collect, run } from './server.ts';

const KEY = 'cap_key_of_a_server_with_a_backup';

let folder: string;
let dataDir: string;
let file: string;
let server: ServerProcess;

async function start() {
  server = spawnServer({ role: 'all', env: { CAPSTAN_DATA_DIR: dataDir, CAPSTAN_API_KEY: KEY } });
  const ready = await server.ready;
  if (!('url' in ready)) throw new Error(server.output());
  return buildApi(ready.url, KEY, 'script/demo');
}

async function stop(): Promise<void> {
  server.signal('SIGTERM');
  await server.ended;
}

const capstan = (...args: string[]) => collect(run(args, { CAPSTAN_DATA_DIR: dataDir }, folder, ''));

beforeAll(() => {
  folder = makeScratch('backup');
  dataDir = join(folder, 'data');
  file = join(folder, 'backup.tar.gz');
});
afterAll(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

test('brings sessions, events, keys and files back after the data folder is lost', async () => {
  const api = await start();
  const chat = await api.openChat();
  await chat.run('hello');
  const events = await chat.list();
  chat.close();
  expect(await capstan('backup', file)).toMatchObject({
    code: 1,
    err: expect.stringContaining('Stop the server first'),
  });
  await stop();
  const masterKey = await readFile(join(dataDir, 'master-key'), 'utf8');
  await symlink('hello', join(dataDir, 'volumes', 'link'));

  const backup = await capstan('backup', file);
  expect(backup).toMatchObject({ code: 0, err: '', out: expect.stringContaining('keep it secret') });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await capstan('backup', file)).toMatchObject({ code: 1, err: expect.stringContaining('exists already') });
  expect(await capstan('restore', file)).toMatchObject({ code: 1, err: expect.stringContaining('is not empty') });

  rmSync(dataDir, { recursive: true });
  expect(await capstan('restore', file)).toMatchObject({ code: 0, err: '' });
  expect(await readFile(join(dataDir, 'master-key'), 'utf8')).toBe(masterKey);
  expect(await readdir(join(dataDir, 'volumes'))).toContain('link');
  const restored = await start();
  const again = await restored.joinChat(chat.agent, chat.id);
  expect(await again.list()).toEqual(events);
  await again.run('and on it goes');
  again.close();
});

test('leaves nothing of a file that is no whole backup', async () => {
  const broken = join(folder, 'broken.tar.gz');
  writeFileSync(broken, (await readFile(file)).subarray(0, 1_000_000));
  const empty = join(folder, 'empty');
  const outcome = await collect(run(['restore', broken], { CAPSTAN_DATA_DIR: empty }, folder, ''));
  expect(outcome).toMatchObject({ code: 1, err: expect.stringContaining('tar failed') });
  expect(await readdir(empty)).toEqual([]);
});
