import type { AssistantPart } from '../../../src/inference/model.ts';
import { startGateway } from '../../../test/gateway/harness.ts';
import type { TestGateway } from '../../../test/gateway/harness.ts';
import { readConversation } from '../../../test/real-clients/scripted-model.ts';
import { makeTask } from '../../../test/real-clients/task.ts';
import type { Task } from '../../../test/real-clients/task.ts';
import type { RecordedRequest } from '../../../test/support/model-server/server.ts';
import type { Answer } from '../../../test/support/service-model.ts';
import { readChat, say } from '../../../test/support/service-model.ts';
import { count } from '../cost.ts';
import type { Cost } from '../cost.ts';
import type { Scenario } from '../scenario.ts';
import { runScenario } from '../session.ts';
import type { Bench } from '../scenario.ts';
import { APPLICABLE } from './applicable.ts';
import type { Applicable } from './applicable.ts';
import { CLAUDE_CODE } from './claude-code.ts';
import { DEADLINE_MS } from './client.ts';
import type { CodingClient, Translate } from './client.ts';
import { CODEX } from './codex.ts';

export const CLIENTS: readonly CodingClient[] = [CODEX, CLAUDE_CODE];

const MODEL = 'chat/small';

function isInput(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The same call in the client's tools; arguments that are no JSON stay as they are. */
function translatePart(part: AssistantPart, translate: Translate, task: Task): AssistantPart {
  if (part.type !== 'tool_call') return part;
  let input: unknown;
  try {
    input = JSON.parse(part.arguments);
  } catch {
    return { ...part, name: translate(part.name, {}, task).name };
  }
  if (!isInput(input)) return part;
  const call = translate(part.name, input, task);
  return { ...part, name: call.name, arguments: JSON.stringify(call.input) };
}

function translateAnswer(answer: Answer, translate: Translate, task: Task): Answer {
  if (typeof answer === 'function' || answer.reply?.content === undefined) return answer;
  const content = answer.reply.content.map((part) => translatePart(part, translate, task));
  return { ...answer, reply: { ...answer.reply, content } };
}

/** Plays the scenario to a client. Requests without tools, such as for a title, get one word and are not counted. */
async function play(client: CodingClient, scenario: Scenario, gateway: TestGateway) {
  const task = makeTask();
  const cost: Cost = { calls: 0, input: 0, output: 0 };
  const asked: RecordedRequest[] = [];
  gateway.upstream.script((request) => {
    if (readConversation(request).tools.length === 0) return say('Title');
    const answer = scenario.play[asked.length] ?? say('ok');
    asked.push(request);
    return count(translateAnswer(answer, client.translate, task), cost)(request);
  });
  try {
    let said: string | undefined;
    let error = '';
    try {
      said = await client.run(gateway, task, MODEL);
    } catch (failure) {
      error = String(failure);
    }
    return { said, error, requests: asked.map(readChat), cost };
  } finally {
    task.close();
  }
}

const shorten = (error: unknown): string =>
  (String(error).split('\n')[0] ?? '')
    .replaceAll('|', '/')
    .replace('AssertionError [ERR_ASSERTION]: ', '')
    .slice(0, 110);

const spent = ({ calls, input, output }: Cost): string => `${calls} | ${input} | ${output}`;

/** Why a client ended without a text: its output says more, but in its own words and length. */
function explain(error: string): string {
  const code = /ended with (\w+):/.exec(error)?.[1];
  if (code === undefined) return shorten(error);
  return code === 'null' ? `still working after ${DEADLINE_MS / 1000} s` : `ended with exit code ${code}`;
}

type Check = Exclude<Applicable, string>;

/** One cell of the table: outcome, model calls, tokens in and out. */
async function runCell(client: CodingClient, scenario: Scenario, check: Check, gateway: TestGateway): Promise<string> {
  const { said, error, requests, cost } = await play(client, scenario, gateway);
  try {
    check({ said, requests });
    return `as it should | ${spent(cost)}`;
  } catch (failure) {
    return `not so: ${error === '' ? shorten(failure) : explain(error)} | ${spent(cost)}`;
  }
}

async function runOwnCell(scenario: Scenario, bench: Bench): Promise<string> {
  try {
    return `as it should | ${spent(await runScenario(scenario, bench))}`;
  } catch (failure) {
    return `not so: ${shorten(failure)} | | |`;
  }
}

/**
 * Plays each scenario that applies to Capstan and to the clients, and prints a row per scenario. Those that do not apply
 * follow with their reasons. Throws if a scenario is not listed in `APPLICABLE`.
 */
export async function compare(clients: readonly CodingClient[], scenarios: readonly Scenario[], bench: Bench) {
  const names = ['Capstan', ...clients.map(({ name }) => name)];
  console.log(`| Scenario | ${names.map((name) => `${name} | calls | in | out`).join(' | ')} |`);
  console.log(`|---${'|---|---|---|---'.repeat(names.length)}|`);
  const left: string[] = [];
  for (const scenario of scenarios) {
    const applicable = APPLICABLE[scenario.name];
    if (applicable === undefined) throw new Error(`Is "${scenario.name}" for clients? applicable.ts does not say.`);
    if (typeof applicable === 'string') {
      left.push(`| ${scenario.name} | ${applicable} |`);
      continue;
    }
    const cells = [await runOwnCell(scenario, bench)];
    for (const client of clients) {
      // Its circuit breaker starts closed for every scenario.
      const gateway = await startGateway();
      try {
        cells.push(await runCell(client, scenario, applicable, gateway));
      } finally {
        await gateway.close();
      }
    }
    console.log(`| ${scenario.name} | ${cells.join(' | ')} |`);
  }
  console.log(`\n| Does not apply | Reason |\n|---|---|\n${left.join('\n')}`);
}
