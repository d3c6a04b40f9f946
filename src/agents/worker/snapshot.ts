import { buildPromptSnapshot, renderRunSkills } from '../loop/turn/snapshot.ts';
import type { AutomationRun, SandboxFacts } from '../loop/turn/environment.ts';
import { describeSchedule } from '../automations/schedule.ts';
import type { Db } from '../../platform/db/db.ts';
import type { Claim } from '../store/leases.ts';
import { findRunSchedule } from '../store/automations.ts';
import { readMemories } from '../store/memories.ts';
import { savePromptSnapshot, readLearnedSkills } from '../store/prompt-snapshots.ts';

async function findAutomationRun(db: Db, { automationId, organizationId }: Claim): Promise<AutomationRun | undefined> {
  if (automationId === null) return undefined;
  const found = await findRunSchedule(db, organizationId, automationId);
  return found === undefined
    ? { name: null, schedule: 'unknown' }
    : { name: found.name, schedule: describeSchedule(found.schedule) };
}

/**
 * What the environment, memory and skills add to the system prompt of this session. Taken at its first turn and kept with it: later
 * changes show in later sessions, and the prompt's prefix stays what providers have cached.
 */
export async function readPromptNotes(
  claim: Claim,
  { db, sandboxFacts }: { db: Db; sandboxFacts?: SandboxFacts },
): Promise<string[]> {
  const { skills, roles, tools } = claim.version;
  const runSkills = renderRunSkills(claim.runSkills, skills);
  if (claim.promptSnapshot !== null) return [...runSkills, ...claim.promptSnapshot.notes];
  const [memories, learned, automation] = await Promise.all([
    readMemories(db, claim),
    readLearnedSkills(db, claim),
    findAutomationRun(db, claim),
  ]);
  const toolConfigs = roles.find((role) => role.name === claim.role)?.tools ?? tools;
  const snapshot = buildPromptSnapshot({
    now: new Date(),
    sandbox: sandboxFacts,
    automation,
    memories,
    configured: skills,
    learned,
    toolConfigs,
  });
  await savePromptSnapshot(db, claim.sessionId, claim.epoch, snapshot);
  return [...runSkills, ...snapshot.notes];
}
