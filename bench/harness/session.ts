import { allowAll } from '../../test/support/chat.ts';
import { say } from '../../test/support/service-model.ts';
import { count } from './cost.ts';
import type { Cost } from './cost.ts';
import { readRequests } from './scenario.ts';
import type { Bench, Scenario } from './scenario.ts';

async function openChat({ agent }: Scenario, bench: Bench) {
  const { api } = bench.service;
  const made = await api.createAgent({ tools: allowAll, ...agent?.(bench) });
  return await api.openChat(made, { subjectId: made.id });
}

/** Runs one scenario in a session of its own. Throws the error of its check. */
export async function runScenario(scenario: Scenario, bench: Bench): Promise<Cost> {
  const { service } = bench;
  const cost: Cost = { calls: 0, input: 0, output: 0 };
  const spare = Array.from({ length: 30 }, () => say('ok'));
  service.model.play(...[...scenario.play, ...spare].map((answer) => count(answer, cost)));
  service.model.summaries = Array.from({ length: 30 }, () => count(say('A summary.'), cost));
  const chat = await (scenario.open?.(bench) ?? openChat(scenario, bench));
  await (scenario.talk?.(chat, bench) ?? chat.run('Go.'));
  const events = await chat.list();
  const idle = events.findLast(({ type }) => type === 'session.status_idle');
  const stop = idle?.payload['stop_reason'] as { type: string; code?: string };
  chat.close();
  scenario.check({ events, requests: readRequests(bench), stop, chat });
  return cost;
}
