import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Session } from '../../src/agents/contract/sessions.ts';
import { allowAll, textOf } from '../support/chat.ts';
import { readLedger } from '../support/crash/trial.ts';
import { openRestarts } from '../support/restarts.ts';
import type { Restarts } from '../support/restarts.ts';

const PATIENCE = { interval: 100 };

let restarts: Restarts;
beforeEach(async () => {
  restarts = await openRestarts('script');
});
afterEach(() => restarts.close());

it('a script interrupted by a crash is not run again, and the model gets a note', { timeout: 600_000 }, async () => {
  const first = await restarts.start();
  const agent = await first.api.createAgent({ tools: allowAll });
  const chat = await first.api.openChat(agent);
  const code = `
from capstan_tools import terminal
terminal("echo by-the-call >> ledger")
with open("ledger", "a") as ledger: ledger.write("by-the-script\\n")
terminal("sleep 98763.5")
`;
  await chat.prompt(`call execute_code ${JSON.stringify({ code })}`);
  const read = () => readLedger(restarts.folder, 'anna');
  await expect.poll(async () => (await read()).length, PATIENCE).toBe(2);
  chat.close();
  first.server.signal('SIGKILL');
  await first.server.ended;

  const { api } = await restarts.start();
  const session = async () => (await api.call<Session>('GET', `/v1/sessions/${chat.id}`)).body;
  await expect.poll(async () => (await session()).status, PATIENCE).toBe('idle');
  const again = await api.joinChat(agent, chat.id);
  const events = await again.list();
  again.close();
  expect(await read()).toEqual(['by-the-call', 'by-the-script']);
  const [script, ...inner] = events.filter(({ type }) => type === 'agent.tool_use');
  const results = events.filter(({ type }) => type === 'agent.tool_result');
  expect(script?.payload['name']).toBe('execute_code');
  // the second call is in the log unless the crash came just before it
  expect([1, 2]).toContain(inner.length);
  for (const { payload } of [...inner, ...results.slice(0, -1)]) {
    expect(payload).toMatchObject({ name: 'terminal', parent_tool_use_id: script?.id });
  }
  expect(results.map(({ payload }) => payload['tool_use_id'])).toEqual([...inner.map(({ id }) => id), script?.id]);
  expect(results.at(-1)?.payload['is_error']).toBe(true);
  expect(textOf(results.at(-1))).toContain('the outcome is unknown');
});
