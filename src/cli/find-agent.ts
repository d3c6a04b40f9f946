import type { Agent, Client } from '../../clients/typescript/index.ts';
import { CliError } from './cli-error.ts';

const PAGE = 100;

async function findByName(client: Client, name: string): Promise<Agent[]> {
  const found: Agent[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await client.listAgents({ limit: PAGE, offset });
    found.push(...page.data.filter((agent) => agent.name === name));
    if (!page.pagination.hasMore) return found;
  }
}

/** By id, or by a name that only one agent has; an active one goes before archived ones. */
export async function getAgent(client: Client, reference: string): Promise<Agent> {
  if (/^agt_[0-9a-z]{26}$/.test(reference)) {
    return await client.getAgent(reference);
  }
  const named = await findByName(client, reference);
  const active = named.filter((agent) => agent.status === 'active');
  const [agent, second] = active.length > 0 ? active : named;
  if (agent === undefined) throw new CliError(`No such agent: ${reference}`);
  if (second !== undefined) throw new CliError(`More than one agent is named ${reference}; use the id.`);
  return agent;
}
