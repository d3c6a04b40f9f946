// Runs 54 awkward or failing situations through a session and reports their cost. Each scenario is a session of the
// whole service with real sandboxes, a scripted provider, and a check. Prints the model calls (without those for
// titles) and tokens of each, counting four bytes of a request or a reply as one token. Exit code 1 if a check fails.
// Needs: the services of the tests.
// SCENARIO=text runs the scenarios whose name contains the text.
import { printMachine } from '../support/figures.ts';
import { startTestMcp, ECHO } from '../../test/support/mcp/server.ts';
import type { RecordedRequest, ScriptedAnswer } from '../../test/support/model-server/server.ts';
import type { Answer } from '../../test/support/service-model.ts';
import { say } from '../../test/support/service-model.ts';
import { startService } from '../../test/support/service.ts';
import { allowAll } from '../../test/support/chat.ts';
import { readRequests } from './scenario.ts';
import type { Bench, Scenario } from './scenario.ts';
import { LONG } from './scenarios/long.ts';
import { ORDER } from './scenarios/order.ts';
import { PROVIDER } from './scenarios/provider.ts';
import { TOOLS } from './scenarios/tools.ts';

type Cost = { calls: number; input: number; output: number };

const toTokens = (bytes: number): number => Math.ceil(bytes / 4);

/** The same answer, with counted tokens and a provider's usage report. */
function count(answer: Answer, cost: Cost): Answer {
  return async (request: RecordedRequest): Promise<ScriptedAnswer> => {
    const given = typeof answer === 'function' ? await answer(request) : answer;
    const input = toTokens(JSON.stringify(request.body).length);
    const output = given.reply === undefined ? 0 : toTokens(JSON.stringify(given.reply.content).length);
    cost.calls += 1;
    cost.input += input;
    cost.output += output;
    if (given.reply === undefined) return given;
    return { ...given, reply: { ...given.reply, usage: { input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0 } } };
  };
}

/** Runs one scenario in its own session. Throws the error of its check. */
async function runScenario(scenario: Scenario, bench: Bench): Promise<Cost> {
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

async function openChat({ agent }: Scenario, bench: Bench) {
  const { api } = bench.service;
  const made = await api.createAgent({ tools: allowAll, ...agent?.(bench) });
  return await api.openChat(made, { subjectId: made.id });
}

printMachine();
const service = await startService();
const mcp = await startTestMcp();
mcp.tools = { tools: [ECHO] };
const groups = { 'order and people': ORDER, provider: PROVIDER, tools: TOOLS, 'long work': LONG };
const wanted = process.env['SCENARIO'] ?? '';
let passed = 0;
let failed = 0;
const total: Cost = { calls: 0, input: 0, output: 0 };
console.log('| Scenario | Outcome | Model calls | Tokens in | Tokens out |\n|---|---|---|---|---|');
for (const [group, scenarios] of Object.entries(groups)) {
  for (const scenario of scenarios.filter(({ name }) => name.includes(wanted))) {
    const row = (outcome: string, cost?: Cost) =>
      console.log(
        `| ${group}: ${scenario.name} | ${outcome} | ${cost?.calls ?? ''} | ${cost?.input ?? ''} | ${cost?.output ?? ''} |`,
      );
    try {
      const cost = await runScenario(scenario, { service, mcp });
      for (const name of ['calls', 'input', 'output'] as const) total[name] += cost[name];
      passed += 1;
      row('as it should', cost);
    } catch (error) {
      failed += 1;
      row(`**not so**: ${String(error).split('\n').slice(0, 4).join(' ')}`);
    }
  }
}
console.log(
  `${passed} of ${passed + failed} as they should; ${total.calls} calls, ${total.input} tokens in, ${total.output} out`,
);
await service.close();
mcp.close();
process.exitCode = failed === 0 ? 0 : 1;
