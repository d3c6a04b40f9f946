import { errors, errorText } from '../../../platform/errors.ts';
import { deleteAgent } from '../../store/agents.ts';
import type { ApiDeps } from '../deps.ts';

/** Deletes the agent, its sessions and, as far as that works, the volumes of its subjects. */
export async function removeAgent(deps: ApiDeps, organizationId: string, agentId: string): Promise<void> {
  const result = await deps.db.transaction((tx) => deleteAgent(tx, organizationId, agentId));
  if (result.outcome === 'running') throw errors.conflict('A session of the agent is running.');
  if (result.outcome !== 'deleted') throw errors.notFound('agent');
  await deps.sandboxes.deleteVolumes({ organizationId, agentId }).catch((error: unknown) => {
    deps.log.warn({ agentId, error: errorText(error) }, 'volumes of a deleted agent are left over');
  });
}
