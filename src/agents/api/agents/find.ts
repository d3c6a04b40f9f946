import type { Queryable } from '../../../platform/db/db.ts';
import { errors } from '../../../platform/errors.ts';
import { findAgent } from '../../store/agents.ts';
import type { StoredAgent } from '../../store/agents.ts';
import { findVersionSummary } from '../../store/versions.ts';
import type { VersionSummary } from '../../store/versions.ts';

/** Throws `not_found` also for another organization's agent. */
export async function getAgent(db: Queryable, organizationId: string, id: string): Promise<StoredAgent> {
  const agent = await findAgent(db, organizationId, id);
  if (agent === undefined) throw errors.notFound('agent');
  return agent;
}

export function archivedAgent() {
  return errors.invalidState('The agent is archived.');
}

/** As `getAgent`, and throws `invalid_state` for an archived one. */
export async function getActiveAgent(db: Queryable, organizationId: string, id: string): Promise<StoredAgent> {
  const agent = await getAgent(db, organizationId, id);
  if (agent.status === 'archived') throw archivedAgent();
  return agent;
}

/** Throws `not_found` for a number that the agent has not reached, however large it is. */
export async function getVersion(db: Queryable, agent: StoredAgent, version: number): Promise<VersionSummary> {
  const found = version > agent.latestVersion ? undefined : await findVersionSummary(db, agent.id, version);
  if (found === undefined) throw errors.notFound('version');
  return found;
}
