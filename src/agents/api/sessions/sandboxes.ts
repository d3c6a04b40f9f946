// Tests: test/agents/api/sessions/sandboxes.test.ts
import { errors } from '../../../platform/errors.ts';
import { readCursor, writeCursor } from '../../../platform/store/pages.ts';
import type { PageRequest } from '../../../platform/store/pages.ts';
import type { SandboxInfo } from '../../../sandbox/sandbox.ts';
import type { Sandbox } from '../../contract/sandboxes.ts';
import { findSessionNames } from '../../store/sandbox-sessions.ts';
import type { ApiDeps } from '../deps.ts';
import { getSession } from './find.ts';

const KEYSET = { name: 'sandboxes', keys: [{ sql: '', type: 'text' }] } as const;

type Filter = PageRequest & { agentId?: string | undefined; subjectId?: string | undefined };

function buildSandbox(info: SandboxInfo): Omit<Sandbox, 'sessionTitle' | 'sessionStatus' | 'agentName'> {
  const { sessionId, agentId, subjectId, phase, reason, node, pod, startedAt, volume } = info;
  return {
    object: 'sandbox',
    sessionId,
    agentId,
    subjectId,
    phase,
    reason: reason ?? null,
    node: node ?? null,
    pod: pod ?? null,
    startedAt: startedAt?.toISOString() ?? null,
    volume: volume === undefined ? null : { usedBytes: volume.usedBytes, sizeBytes: volume.sizeBytes },
  };
}

/** A page of the sandboxes of an organization, those of the newest sessions first: ids are in the order of time. */
export async function listSandboxes(
  { db, sandboxes }: Pick<ApiDeps, 'db' | 'sandboxes'>,
  organizationId: string,
  { limit, cursor, agentId, subjectId }: Filter,
): Promise<{ rows: Sandbox[]; nextCursor: string | null }> {
  const before = cursor === undefined ? undefined : readCursor(KEYSET, cursor)[0];
  const found = (await sandboxes.list(organizationId))
    .filter((info) => agentId === undefined || info.agentId === agentId)
    .filter((info) => subjectId === undefined || info.subjectId === subjectId)
    .filter(({ sessionId }) => before === undefined || sessionId < before)
    .sort((left, right) => (left.sessionId < right.sessionId ? 1 : -1));
  const shown = found.slice(0, limit);
  const ids = shown.map(({ sessionId }) => sessionId);
  const names = await findSessionNames(db, organizationId, ids);
  const unknown = { sessionTitle: null, sessionStatus: null, agentName: null };
  const rows = shown.map((info) => ({ ...buildSandbox(info), ...(names.get(info.sessionId) ?? unknown) }));
  const last = ids.at(-1);
  return { rows, nextCursor: found.length > limit && last !== undefined ? writeCursor(KEYSET, [last]) : null };
}

/** Ends the sandbox of a session, whatever runs in it. Succeeds where there is none. */
export async function stopSandbox(deps: ApiDeps, organizationId: string, sessionId: string): Promise<void> {
  const { agentId, subjectId } = await getSession(deps.db, organizationId, sessionId);
  await deps.sandboxes.remove({ organizationId, agentId, subjectId, sessionId }).catch((error: unknown) => {
    throw errors.unavailable('The sandbox cannot be stopped.', error);
  });
}
