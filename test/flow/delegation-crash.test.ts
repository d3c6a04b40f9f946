import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { EventEnvelope } from '../../src/contract/events.ts';
import type { Session } from '../../src/contract/sessions.ts';
import { buildApi, textOf, typesOf } from '../support/chat.ts';
import { spawnServer } from '../support/crash/server.ts';
import type { ServerProcess } from '../support/crash/server.ts';
import { readLedger } from '../support/crash/trial.ts';
import { makeScratch } from '../support/scratch.ts';
import { copyEmbeddedTemplate } from '../support/template.ts';

const KEY = 'cap_key_of_the_delegation_test';
const PATIENCE = { timeout: 60_000, interval: 100 };

const folder = makeScratch('delegation');
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

it(
  'does nothing twice when the server is killed under it, and every thread has its end',
  { timeout: 180_000 },
  async () => {
    mkdirSync(join(folder, 'tmp'));
    await copyEmbeddedTemplate(join(folder, 'database'));
    const first = await start();
    const allow = { permissionPolicy: { type: 'always_allow' } };
    const tools = [{ type: 'agent_toolset', defaultConfig: allow, configs: [{ name: 'delegation' }] }];
    const agent = await first.api.createAgent({ tools });
    const chat = await first.api.openChat(agent);
    const tasks = [{ goal: 'run: echo quick >> ledger' }, { goal: 'run: echo slow >> ledger; sleep 98765.7' }];
    await chat.prompt(`call delegate_task ${JSON.stringify({ tasks })}`);
    await chat.next('agent.thread_message_received');
    await expect.poll(() => readLedger(folder, 'anna').then((lines) => lines.length), PATIENCE).toBe(2);
    const before = await chat.list();
    chat.close();
    first.server.signal('SIGKILL');
    await first.server.ended;

    const { api } = await start();
    const read = async () => (await api.call<Session>('GET', `/v1/sessions/${chat.id}`)).body;
    await expect.poll(async () => (await read()).status, PATIENCE).toBe('idle');
    const again = await api.joinChat(agent, chat.id);
    const events = await again.list();
    again.close();
    expect((await readLedger(folder, 'anna')).toSorted((left, right) => left.localeCompare(right))).toEqual([
      'quick',
      'slow',
    ]);
    expect(events.slice(0, before.length)).toEqual(before);
    const of = (type: string): EventEnvelope[] => events.filter((event) => event.type === type);
    expect(of('agent.thread_message_sent')).toHaveLength(2);
    const received = of('agent.thread_message_received').map(({ payload }) => payload);
    expect(received.map(({ status }) => status)).toEqual(['completed', 'interrupted']);
    expect(new Set(received.map((payload) => payload['thread_id']))).toEqual(
      new Set(of('agent.thread_message_sent').map(({ payload }) => payload['thread_id'])),
    );
    expect(of('agent.tool_use').map(({ payload }) => payload['name'])).toEqual([
      'delegate_task',
      'terminal',
      'terminal',
    ]);
    const results = of('agent.tool_result');
    expect(new Set(results.map(({ payload }) => payload['tool_use_id']))).toEqual(
      new Set(of('agent.tool_use').map(({ id }) => id)),
    );
    const [lost, delegate] = results.slice(-2);
    expect(lost?.payload).toMatchObject({ name: 'terminal', is_error: true, thread_id: received[1]?.['thread_id'] });
    expect(delegate?.payload).toMatchObject({ name: 'delegate_task', is_error: true });
    for (const result of [lost, delegate]) expect(textOf(result)).toContain('the outcome is unknown');
    expect(typesOf(events).at(-1)).toBe('session.status_idle');
  },
);
