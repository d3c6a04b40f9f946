// Tests: test/console/pages.test.ts
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { ApiError } from '../../clients/typescript/index.ts';
import type { Client } from '../../clients/typescript/index.ts';
import { findConnection } from './connection.ts';
import { CliError } from './cli-error.ts';
import { buildContext } from './context.ts';

type AgentPlan = { name: string; systemPrompt: string; next: string; isAsking: boolean };
type SessionPlan = { agent: string; subject: string; title: string; prompts: readonly string[] };

const AGENTS: readonly AgentPlan[] = [
  {
    name: 'support',
    systemPrompt: 'You answer questions about orders.\nAsk before you change anything.',
    next: 'You answer questions about orders.\nAsk before you change anything.\nBe brief and friendly.',
    isAsking: true,
  },
  {
    name: 'reporter',
    systemPrompt: 'You write reports from the files of a team.',
    next: 'You write reports from the files of a team.\nBegin with a summary of three lines.',
    isAsking: false,
  },
  {
    name: 'importer',
    systemPrompt: 'You bring contacts into the address book.',
    next: 'You bring contacts into the address book.\nNever import a contact twice.',
    isAsking: false,
  },
];

const REPORT = String.raw`write report.md: # Weekly report`;
const ORDERS = String.raw`run: printf 'order,amount\n4417,18.50\n4418,7.20\n' > orders.csv; cat orders.csv`;

/** What the built-in model does with a prompt is described in docs/cli.md: it follows the lines literally. */
const SESSIONS: readonly SessionPlan[] = [
  {
    agent: 'support',
    subject: 'ada',
    title: 'Refund for order 4417',
    prompts: ['Please refund order 4417.', `think: The order has to be looked up before it is refunded.\n${ORDERS}`],
  },
  { agent: 'support', subject: 'bob', title: 'Change of address', prompts: ['ask: Which of your two accounts is it?'] },
  { agent: 'support', subject: 'cleo', title: 'Delete old exports', prompts: ['run: rm -rf exports/2024'] },
  {
    agent: 'reporter',
    subject: 'team-7',
    title: 'Weekly report',
    prompts: [
      `think: First the numbers, then the text.\n${ORDERS}\n${REPORT}\ncall read_file {"path":"report.md"}`,
      String.raw`run: printf '\033[32mall checks passed\033[0m\n'; seq 1 60`,
      'Thank you. **Send it** to the team:\n\n| order | amount |\n|---|---|\n| 4417 | 18.50 |\n| 4418 | 7.20 |',
    ],
  },
  { agent: 'reporter', subject: 'team-3', title: 'Missing numbers', prompts: ['run: cat numbers.csv', 'run: exit 3'] },
  {
    agent: 'importer',
    subject: 'dan',
    title: 'Import of contacts',
    prompts: ['fail: the provider refused the request'],
  },
  { agent: 'importer', subject: 'eve', title: 'Long import', prompts: ['run: sleep 240'] },
  { agent: 'importer', subject: 'finn', title: 'Import of last year', prompts: ['run: echo done'] },
];
const ARCHIVED = 'Import of last year';
const POLL_MS = 200;
/** A turn of the built-in model takes a second or two; the first one starts a sandbox. */
const MAX_WAIT_MS = 60_000;
const GATEWAY_CALLS = 12;

async function createAgents(client: Client): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const { name, systemPrompt, next, isAsking } of AGENTS) {
    const type = isAsking ? ('always_ask' as const) : ('always_allow' as const);
    const tools = [{ type: 'agent_toolset' as const, defaultConfig: { enabled: true, permissionPolicy: { type } } }];
    const agent = await client.createAgent({ name, modelName: 'script/demo', systemPrompt, skills: [], tools });
    await client.patchAgent(agent.id, { systemPrompt: next, expectedVersion: 0 });
    ids.set(name, agent.id);
  }
  return ids;
}

/** Resolves when the turn has ended, waits for a person, or has run for long enough to be left alone. */
async function waitForTurn(client: Client, sessionId: string, maxMs: number): Promise<void> {
  const deadline = Date.now() + maxMs;
  while (Date.now() < deadline) {
    const { status, queuedCount } = await client.getSession(sessionId);
    if (status !== 'running' && queuedCount === 0) return;
    await sleep(POLL_MS);
  }
}

async function createSession(client: Client, plan: SessionPlan, agentId: string): Promise<void> {
  const { subject: subjectId, title, prompts } = plan;
  const session = await client.createSession({ agentId, subjectId, title });
  for (const text of prompts) {
    const isLong = text.includes('sleep');
    await client.sendEvents(session.id, { events: [{ type: 'user.message', content: [{ type: 'text', text }] }] });
    if (!isLong) await waitForTurn(client, session.id, MAX_WAIT_MS);
  }
  if (title === ARCHIVED) await client.archiveSession(session.id);
}

/** Calls through the gateway, so that the page of usage has something to show. */
async function callGateway({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): Promise<void> {
  for (let number = 1; number <= GATEWAY_CALLS; number += 1) {
    const content = `Line ${number} of the report: ${'numbers '.repeat(number)}`;
    await fetch(`${baseUrl.replace(/(?<!\/)\/+$/, '')}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'script/demo', messages: [{ role: 'user', content }] }),
    }).then((response) => response.arrayBuffer());
  }
}

type Part = 'usage of a month' | 'budgets' | 'a video';

/** Runs one part of the demo. Returns its name where the key or the server does not allow it. */
async function tryPart(part: Part, work: () => Promise<unknown>): Promise<Part[]> {
  try {
    await work();
    return [];
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return [part];
    throw error;
  }
}

/** Limits of which one is nearly reached. They stop nothing. */
async function createBudgets(client: Client, agents: ReadonlyMap<string, string>): Promise<void> {
  const { organizationId } = await client.getCaller();
  const [support = '', reporter = ''] = [agents.get('support'), agents.get('reporter')];
  await client.putBudget('organization', organizationId, { limitUsd: 15, period: 'month', onReached: 'notify' });
  await client.putBudget('agent', reporter, { limitUsd: 3, period: 'month', onReached: 'notify' });
  await client.putBudget('subject', `${support}:ada`, { limitUsd: 0.005, period: 'day', onReached: 'notify' });
}

/** What the key may: usage in the ledger, which is marked as made up, budgets on it, and a video. */
async function createExtras(client: Client, agents: ReadonlyMap<string, string>, force: boolean): Promise<Part[]> {
  const prompt = 'A lighthouse at dusk, then the same at dawn';
  const left = [
    await tryPart('usage of a month', () => client.createDemoUsage({ force })),
    await tryPart('budgets', () => createBudgets(client, agents)),
    await tryPart('a video', () => client.createGenerations({ prompt, modelName: 'local/storyboard-1' })),
  ];
  return left.flat();
}

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description(
      'fill an empty organization with agents, sessions in every state, an automation, a video and a month of usage',
    )
    .option('--force', 'also where there are agents and usage already')
    .action(async ({ force = false }: { force?: boolean }, command: Command) => {
      const context = buildContext(command);
      const { client } = context;
      if (!force && (await client.listAgents({ limit: 1 })).data.length > 0) {
        throw new CliError('The organization has agents already; --force adds the demo data to them.');
      }
      const agents = await createAgents(client);
      await Promise.all(SESSIONS.map((plan) => createSession(client, plan, agents.get(plan.agent) ?? '')));
      await client.createAutomation(agents.get('reporter') ?? '', 'team-7', {
        name: 'Weekly report',
        prompt: ORDERS,
        schedule: '0 7 * * 1',
      });
      await callGateway(findConnection(process.env));
      const left = await createExtras(client, agents, force);
      const made = { object: 'demo', agents: agents.size, sessions: SESSIONS.length, automations: 1, left };
      context.show(made, () => {
        const text = `Made ${agents.size} agents, ${SESSIONS.length} sessions and an automation.`;
        return left.length === 0 ? text : `${text} Left out, as the key or the server refuses: ${left.join(', ')}.`;
      });
    });
}
