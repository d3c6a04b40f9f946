// Runs 54 awkward or failing situations through a session and reports their cost. Each scenario is a session of the
// whole service with real sandboxes, a scripted provider, and a check. Prints the model calls (without those for
// titles) and tokens of each, counting four bytes of a request or a reply as one token. Exit code 1 if a check fails.
// With --client codex, --client claude-code or --client all the scenarios that apply to these clients run through them,
// too, over the gateway and without a terminal. Their tools differ, so the calls of each scenario are translated.
// Needs: the services of the tests; with --client, scripts/install-clients.sh.
// SCENARIO=text runs the scenarios whose name contains the text.
import { parseArgs } from 'node:util';
import { printMachine } from '../support/figures.ts';
import { startTestMcp, ECHO } from '../../test/support/mcp/server.ts';
import { startService } from '../../test/support/service.ts';
import { CLIENTS, compare } from './clients/side-by-side.ts';
import type { Cost } from './cost.ts';
import type { Bench, Scenario } from './scenario.ts';
import { LONG } from './scenarios/long.ts';
import { ORDER } from './scenarios/order.ts';
import { PROVIDER } from './scenarios/provider.ts';
import { TOOLS } from './scenarios/tools.ts';
import { runScenario } from './session.ts';

/** Runs the scenarios of every group and prints a row for each. Returns whether all checks held. */
async function runAll(groups: Readonly<Record<string, readonly Scenario[]>>, bench: Bench): Promise<boolean> {
  let passed = 0;
  let failed = 0;
  const total: Cost = { calls: 0, input: 0, output: 0 };
  console.log('| Scenario | Outcome | Model calls | Tokens in | Tokens out |\n|---|---|---|---|---|');
  for (const [group, scenarios] of Object.entries(groups)) {
    for (const scenario of scenarios) {
      const row = (outcome: string, cost?: Cost) =>
        console.log(
          `| ${group}: ${scenario.name} | ${outcome} | ${cost?.calls ?? ''} | ${cost?.input ?? ''} | ${cost?.output ?? ''} |`,
        );
      try {
        const cost = await runScenario(scenario, bench);
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
  return failed === 0;
}

const { values } = parseArgs({ options: { client: { type: 'string', multiple: true } } });
const chosen = values.client?.flatMap((name) => {
  const found = CLIENTS.filter((client) => name === 'all' || client.name === name);
  if (found.length === 0) throw new Error(`--client is all, ${CLIENTS.map((client) => client.name).join(' or ')}`);
  return found;
});
printMachine();
const service = await startService();
const mcp = await startTestMcp();
mcp.tools = { tools: [ECHO] };
const wanted = process.env['SCENARIO'] ?? '';
const groups = Object.fromEntries(
  Object.entries({ 'order and people': ORDER, provider: PROVIDER, tools: TOOLS, 'long work': LONG }).map(
    ([group, scenarios]) => [group, scenarios.filter(({ name }) => name.includes(wanted))],
  ),
);
if (chosen === undefined) {
  process.exitCode = (await runAll(groups, { service, mcp })) ? 0 : 1;
} else {
  await compare(chosen, Object.values(groups).flat(), { service, mcp });
}
await service.close();
mcp.close();
