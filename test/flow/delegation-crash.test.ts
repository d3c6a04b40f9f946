import { afterEach, beforeEach, expect, it } from 'vitest';
import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import { textOf, typesOf } from '../support/chat.ts';
import { readLedger } from '../support/crash/trial.ts';
import { openRestarts } from '../support/restarts.ts';
import type { Restarts } from '../support/restarts.ts';

const PATIENCE = { interval: 100 };

let restarts: Restarts;
beforeEach(async () => {
  restarts = await openRestarts('delegation');
});
afterEach(() => restarts.close());

it(
  'does nothing twice when the server is killed under it, and every thread has its end',
  { timeout: 600_000 },
  async () => {
    const first = await restarts.start();
    const allow = { permissionPolicy: { type: 'always_allow' } };
    const tools = [{ type: 'agent_toolset', defaultConfig: allow, configs: [{ name: 'delegation' }] }];
    const agent = await first.api.createAgent({ tools });
    const chat = await first.api.openChat(agent);
    const tasks = [{ goal: 'run: echo quick >> ledger' }, { goal: 'run: echo slow >> ledger; sleep 98765.7' }];
    await chat.prompt(`call delegate_task ${JSON.stringify({ tasks })}`);
    await chat.next('agent.thread_message_received');
    await expect.poll(() => readLedger(restarts.folder, 'anna').then((lines) => lines.length), PATIENCE).toBe(2);
    const before = await chat.list();
    chat.close();
    first.server.signal('SIGKILL');
    await first.server.ended;

    const { api } = await restarts.start();
    const read = async () => (await api.call<Session>('GET', `/v1/sessions/${chat.id}`)).body;
    await expect.poll(async () => (await read()).status, PATIENCE).toBe('idle');
    const again = await api.joinChat(agent, chat.id);
    const events = await again.list();
    again.close();
    expect((await readLedger(restarts.folder, 'anna')).toSorted((left, right) => left.localeCompare(right))).toEqual([
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
    // Two of the turn, two of the quick subagent, and one that the lost subagent had completed.
    expect(events.at(-1)?.usage).toMatchObject({ calls: 5 });
  },
);
