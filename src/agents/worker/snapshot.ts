import { buildPromptSnapshot, renderRunSkills } from '../loop/turn/snapshot.ts';
import type { Db } from '../../platform/db/db.ts';
import type { Claim } from '../store/leases.ts';
import { readMemories } from '../store/memories.ts';
import { savePromptSnapshot, readLearnedSkills } from '../store/prompt-snapshots.ts';

/**
 * What memory and skills add to the system prompt of this session. Taken at its first turn and kept with it: later
 * changes show in later sessions, and the prompt's prefix stays what providers have cached.
 */
export async function readPromptNotes(claim: Claim, db: Db): Promise<string[]> {
  const { skills, roles, tools } = claim.version;
  const runSkills = renderRunSkills(claim.runSkills, skills);
  if (claim.promptSnapshot !== null) return [...runSkills, ...claim.promptSnapshot.notes];
  const [memories, learned] = await Promise.all([readMemories(db, claim), readLearnedSkills(db, claim)]);
  const toolConfigs = roles.find((role) => role.name === claim.role)?.tools ?? tools;
  const snapshot = buildPromptSnapshot({ memories, configured: skills, learned, toolConfigs });
  await savePromptSnapshot(db, claim.sessionId, claim.epoch, snapshot);
  return [...runSkills, ...snapshot.notes];
}
