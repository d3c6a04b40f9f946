import type { Queryable } from '../../platform/db/db.ts';
import { encodeJson } from '../../platform/store/json.ts';

type SubjectKey = { organizationId: string; agentId: string; subjectId: string };

/** Names and descriptions of the skills on the subject's volume, as they were last seen there. */
export async function readLearnedSkills(
  db: Queryable,
  subject: SubjectKey,
): Promise<{ name: string; description: string; category: string | null }[]> {
  const { rows } = await db.query<{ skills: { name: string; description: string; category: string | null }[] }>(
    'SELECT skills FROM learned_skills WHERE organization_id = $1 AND agent_id = $2 AND subject_id = $3',
    [subject.organizationId, subject.agentId, subject.subjectId],
  );
  return rows[0]?.skills ?? [];
}

export async function saveLearnedSkills(
  db: Queryable,
  subject: SubjectKey,
  skills: readonly { name: string; description: string; category: string | null }[],
): Promise<void> {
  await db.query(
    `INSERT INTO learned_skills (organization_id, agent_id, subject_id, skills)
     SELECT $1, a.id, $3, $4::jsonb FROM agents a WHERE a.id = $2 AND a.organization_id = $1 FOR KEY SHARE
     ON CONFLICT (agent_id, subject_id) DO UPDATE SET skills = excluded.skills
     WHERE learned_skills.skills <> excluded.skills`,
    [subject.organizationId, subject.agentId, subject.subjectId, encodeJson(skills)],
  );
}

/** Keeps what the first turn put into the prompt. Only the holder of the lease may, and only once. */
export async function savePromptSnapshot(
  db: Queryable,
  sessionId: string,
  epoch: number,
  snapshot: object,
): Promise<void> {
  await db.query(
    `UPDATE sessions SET prompt_snapshot = $3::jsonb WHERE id = $1 AND lease_epoch = $2 AND prompt_snapshot IS NULL`,
    [sessionId, epoch, encodeJson(snapshot)],
  );
}
