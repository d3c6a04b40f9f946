import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Session } from '../../src/contract/sessions.ts';
import { allowAll, buildApi, textOf } from '../support/chat.ts';
import { spawnServer } from '../support/crash/server.ts';
import type { ServerProcess } from '../support/crash/server.ts';
import { readLedger } from '../support/crash/trial.ts';
import { makeScratch } from '../support/scratch.ts';
import { copyEmbeddedTemplate } from '../support/template.ts';

const KEY = 'cap_key_of_the_script_test';
const PATIENCE = { timeout: 60_000, interval: 100 };

const folder = makeScratch('script');
const servers: ServerProcess[] = [];
afterEach(async () => {
  for (const server of servers) server.signal('SIGKILL');
  await Promise.all(servers.map(({ ended }) => ended));
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

async function start() {
  const env = {
    TMPDIR: join(folder, 'tmp'),
    CAPSTAN_DATA_DIR: folder,
    CAPSTAN_API_KEY: KEY,
    CAPSTAN_LEASE_SECONDS: '1',
  };
  const server = spawnServer({ role: 'all', env });
  servers.push(server);
  const ready = await server.ready;
  if (!('url' in ready)) throw new Error(server.output());
  return { server, api: buildApi(ready.url, KEY, 'script/demo') };
}

it('a script that a crash cut off is not run again, and the model is told', { timeout: 180_000 }, async () => {
  mkdirSync(join(folder, 'tmp'));
  await copyEmbeddedTemplate(join(folder, 'database'));
  const first = await start();
  const agent = await first.api.createAgent({ tools: allowAll });
  const chat = await first.api.openChat(agent);
  const code = `
from capstan_tools import terminal
terminal("echo by-the-call >> ledger")
with open("ledger", "a") as ledger: ledger.write("by-the-script\\n")
terminal("sleep 98763.5")
`;
  await chat.prompt(`call execute_code ${JSON.stringify({ code })}`);
  const read = () => readLedger(folder, 'anna');
  await expect.poll(async () => (await read()).length, PATIENCE).toBe(2);
  chat.close();
  first.server.signal('SIGKILL');
  await first.server.ended;

  const { api } = await start();
  const session = async () => (await api.call<Session>('GET', `/v1/sessions/${chat.id}`)).body;
  await expect.poll(async () => (await session()).status, PATIENCE).toBe('idle');
  const again = await api.joinChat(agent, chat.id);
  const events = await again.list();
  again.close();
  expect(await read()).toEqual(['by-the-call', 'by-the-script']);
  expect(events.filter(({ type }) => type === 'agent.tool_use').map(({ payload }) => payload['name'])).toEqual([
    'execute_code',
  ]);
  const results = events.filter(({ type }) => type === 'agent.tool_result');
  expect(results.map(({ payload }) => payload['is_error'])).toEqual([true]);
  expect(textOf(results[0])).toContain('the outcome is unknown');
});
