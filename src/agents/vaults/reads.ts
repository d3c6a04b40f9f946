import type { Db } from '../../platform/db/db.ts';
import { recordSecretRead } from '../../platform/store/secret-reads.ts';
import { currentWorkIds } from '../../platform/work-context.ts';

/** The credential that a request uses, and which of its secrets. */
type ReadCredential = { credentialId: string; revision: number };

/** Turns whose reads are remembered; of older ones a read may be recorded twice. */
const MAX_KNOWN = 10_000;

/** Records reads of credentials: one for each turn, or else each request, and revision of a credential. */
export function openReadRecorder(db: Db): (agentId: string, serverUrl: string, used: ReadCredential) => Promise<void> {
  const known = new Set<string>();
  return async (agentId, serverUrl, { credentialId, revision }) => {
    const { turnId } = currentWorkIds();
    const key = [turnId, credentialId, revision].join('/');
    if (turnId !== undefined && known.has(key)) return;
    const { rows } = await db.query<{ organization_id: string }>('SELECT organization_id FROM agents WHERE id = $1', [
      agentId,
    ]);
    const [agent] = rows;
    if (agent === undefined) return;
    const { origin } = new URL(serverUrl);
    const read = { type: 'credential', id: credentialId, changes: { agentId, server: origin } };
    await recordSecretRead(db, agent.organization_id, read);
    if (turnId === undefined) return;
    known.add(key);
    const [oldest] = known;
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  };
}
