import type { Queryable } from '../../platform/db/db.ts';
import type { MemoryTarget } from '../contract/memory.ts';

/** One document. The agent's own has the subject '', which no caller can name. */
export type MemoryKey = { organizationId: string; agentId: string; subjectId: string; target: MemoryTarget };

export type MemoryDocument = { content: string; updatedAt: Date | null };

const EMPTY: MemoryDocument = { content: '', updatedAt: null };
const WHERE = 'WHERE organization_id = $1 AND agent_id = $2 AND subject_id = $3 AND target = $4';

function params({ organizationId, agentId, subjectId, target }: MemoryKey): string[] {
  return [organizationId, agentId, target === 'agent' ? '' : subjectId, target];
}

type Row = { content: string; updated_at: Date };

/** A document that was never written is empty. */
export async function readMemory(db: Queryable, key: MemoryKey): Promise<MemoryDocument> {
  const { rows } = await db.query<Row>(`SELECT content, updated_at FROM memories ${WHERE}`, params(key));
  const row = rows[0];
  return row === undefined ? EMPTY : { content: row.content, updatedAt: row.updated_at };
}

/** All that a session of this subject sees, by target; absent ones are empty. */
export async function readMemories(
  db: Queryable,
  subject: { organizationId: string; agentId: string; subjectId: string },
): Promise<Map<MemoryTarget, string>> {
  const { rows } = await db.query<{ target: MemoryTarget; content: string }>(
    `SELECT target, content FROM memories
     WHERE organization_id = $1 AND agent_id = $2 AND (subject_id = $3 OR (subject_id = '' AND target = 'agent'))`,
    [subject.organizationId, subject.agentId, subject.subjectId],
  );
  return new Map(rows.map((row) => [row.target, row.content]));
}

/**
 * Replaces a document by what `change` makes of it, one writer at a time; null leaves it as it is. Undefined when the
 * agent is gone. The caller holds a transaction.
 */
export async function changeMemory(
  tx: Queryable,
  key: MemoryKey,
  change: (content: string) => string | null,
): Promise<MemoryDocument | undefined> {
  const values = params(key);
  // The row is there before it is locked, so that two first writers meet.
  await tx.query(
    `INSERT INTO memories (organization_id, agent_id, subject_id, target, content)
     SELECT $1, a.id, $3, $4, '' FROM agents a WHERE a.id = $2 AND a.organization_id = $1 FOR KEY SHARE
     ON CONFLICT (agent_id, subject_id, target) DO NOTHING`,
    values,
  );
  const { rows } = await tx.query<Row>(`SELECT content, updated_at FROM memories ${WHERE} FOR UPDATE`, values);
  const current = rows[0];
  if (current === undefined) return undefined;
  const content = change(current.content);
  if (content === null) return { content: current.content, updatedAt: current.updated_at };
  const updated = await tx.query<Row>(
    `UPDATE memories SET content = $5, updated_at = now() ${WHERE} RETURNING content, updated_at`,
    [...values, content],
  );
  return { content, updatedAt: updated.rows[0]?.updated_at ?? null };
}

/** Empties a document. The row stays, so that a writer that waits for it finds it. */
export async function clearMemory(db: Queryable, key: MemoryKey): Promise<void> {
  await db.query(`UPDATE memories SET content = '', updated_at = now() ${WHERE}`, params(key));
}
