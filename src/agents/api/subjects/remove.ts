// Tests: test/agents/api/subjects/subjects.test.ts
import { randomUUID } from 'node:crypto';
import type { Db } from '../../../platform/db/db.ts';
import { errors, errorText } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/log.ts';
import type { Objects } from '../../../platform/objects/objects.ts';
import type { Sandboxes } from '../../../sandbox/sandbox.ts';
import { hasAgent } from '../../store/agents.ts';
import type { Subject } from '../../store/approvals.ts';
import {
  claimRemovals,
  deleteIdleSessions,
  deleteRemoval,
  deleteSubjectRows,
  findIdleSubjects,
  insertRemoval,
  isBeingDeleted,
  lockSubject,
  releaseRemoval,
} from '../../store/removals.ts';
import type { Removal } from '../../store/removals.ts';
import type { Queryable } from '../../../platform/db/db.ts';
import { deleteAttachments } from '../events/attachments/stored.ts';

export type RemovalPorts = { db: Db; sandboxes: Sandboxes; objects: Objects; log: Logger };

/** Removals that one pass takes. */
const BATCH = 20;

/**
 * For whatever gives a subject something new, in its transaction: throws `invalid_state` while a deletion of the subject
 * has not removed its files yet.
 */
export async function requireSubjectStays(tx: Queryable, subject: Subject): Promise<void> {
  await lockSubject(tx, subject, 'shared');
  if (await isBeingDeleted(tx, subject)) throw errors.invalidState('The subject is being deleted.');
}

/** Each step can be repeated, so a removal that was cut off starts over. Throws the first failure. */
async function finishRemoval({ db, sandboxes, objects }: RemovalPorts, removal: Removal, owner: string): Promise<void> {
  const { organizationId, agentId, subjectId, sessionIds } = removal;
  const subject = { organizationId, agentId, subjectId };
  if (removal.volume) await sandboxes.deleteVolume(subject);
  for (const sessionId of sessionIds) {
    if (!removal.volume) await sandboxes.remove({ ...subject, sessionId });
    await deleteAttachments(objects, sessionId);
  }
  await deleteRemoval(db, removal.id, owner);
}

async function finishOrRelease(ports: RemovalPorts, removal: Removal, owner: string): Promise<void> {
  try {
    await finishRemoval(ports, removal, owner);
  } catch (error) {
    await releaseRemoval(ports.db, removal.id, owner).catch(() => undefined);
    throw error;
  }
}

/** Finishes what deletions that were cut off, or that failed, have left over. True when there may be more. */
export async function finishRemovals(ports: RemovalPorts): Promise<boolean> {
  const owner = randomUUID();
  const removals = await claimRemovals(ports.db, owner, BATCH);
  let failed = 0;
  for (const removal of removals) {
    await finishOrRelease(ports, removal, owner).catch((error: unknown) => {
      failed += 1;
      ports.log.warn({ agentId: removal.agentId, error: errorText(error) }, 'parts of a deletion are left over');
    });
  }
  return removals.length === BATCH && failed === 0;
}

/** Throws inside the transaction, which rolls back, when a session is running. */
async function deleteRows(tx: Queryable, subject: Subject, owner: string): Promise<Removal> {
  const result = await deleteSubjectRows(tx, subject);
  if (result.outcome === 'running') throw errors.invalidState('A session of the subject is running.');
  return insertRemoval(tx, { ...subject, sessionIds: result.sessionIds, volume: true }, owner);
}

/**
 * Deletes a subject. The rows go in one transaction, which also notes what is left to remove; that goes at once, or later
 * by `finishRemovals` if this process dies. Throws `invalid_state` while a session runs, `service_delete_failed` when a
 * sandbox or the volume cannot be removed now. Returns the number of sessions.
 */
export async function removeSubject(ports: RemovalPorts, subject: Subject): Promise<number> {
  const { organizationId, agentId, subjectId } = subject;
  if (!(await hasAgent(ports.db, organizationId, agentId))) throw errors.notFound('agent');
  const owner = randomUUID();
  const key = { organizationId, agentId, subjectId };
  const removal = await ports.db.transaction((tx) => deleteRows(tx, key, owner));
  await finishOrRelease(ports, removal, owner).catch((error: unknown) => {
    throw errors.serviceDeleteFailed(error);
  });
  return removal.sessionIds.length;
}

/** Deletes sessions without activity for so many days; the files of their subjects stay. True when there may be more. */
export async function deleteOldSessions(ports: RemovalPorts, days: number): Promise<boolean> {
  const owner = randomUUID();
  const removals = await ports.db.transaction((tx) => deleteIdleSessions(tx, days, BATCH, owner));
  for (const removal of removals) await finishOrRelease(ports, removal, owner);
  return removals.length === BATCH;
}

/** Deletes subjects of whom nothing was seen for so many days. True when there may be more. */
export async function deleteOldSubjects(ports: RemovalPorts, days: number): Promise<boolean> {
  const owner = randomUUID();
  const subjects = await findIdleSubjects(ports.db, days, { limit: BATCH });
  for (const subject of subjects) {
    const removal = await ports.db.transaction(async (tx) => {
      await lockSubject(tx, subject, 'exclusive');
      const [idle] = await findIdleSubjects(tx, days, { subject });
      return idle && deleteRows(tx, subject, owner);
    });
    if (removal !== undefined) await finishOrRelease(ports, removal, owner);
  }
  return subjects.length === BATCH;
}
