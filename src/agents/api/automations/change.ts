import { publishEvents, sendWake } from '../../channels.ts';
import type { Queryable } from '../../../platform/db/db.ts';
import type { AutomationCreate, AutomationPatch } from '../../contract/automations.ts';
import { errors } from '../../../platform/errors.ts';
import type { StoredAgent } from '../../store/agents.ts';
import type { Subject } from '../../store/approvals.ts';
import { startRuns } from '../../store/automation-runs.ts';
import { insertAutomation, lockAutomation, updateAutomation } from '../../store/automations.ts';
import type { StoredAutomation } from '../../store/automations.ts';
import { getVersion } from '../agents/find.ts';
import type { ApiDeps } from '../deps.ts';
import { requireSubjectStays } from '../subjects/remove.ts';
import { planCreate, planPatch } from './plan.ts';

/** Runs use the production version, so that is where a skill must be. */
async function checkSkills(db: Queryable, agent: StoredAgent, skills: readonly string[]): Promise<void> {
  if (skills.length === 0) return;
  const { skills: known } = await getVersion(db, agent, agent.productionVersion);
  const index = skills.findIndex((skill) => !known.includes(skill));
  if (index >= 0) throw errors.validation(`skills[${index}]: must be a skill of the agent's production version`);
}

export async function createAutomation(
  deps: ApiDeps,
  agent: StoredAgent,
  subject: Subject,
  body: AutomationCreate,
): Promise<StoredAutomation> {
  const fields = planCreate(body, new Date());
  await checkSkills(deps.db, agent, fields.skills);
  const automation = await deps.db.transaction(async (tx) => {
    await requireSubjectStays(tx, subject);
    return insertAutomation(tx, subject, fields);
  });
  if (automation === undefined) throw errors.notFound('agent');
  return automation;
}

export async function patchAutomation(
  deps: ApiDeps,
  { agent, subject, id }: { agent: StoredAgent; subject: Subject; id: string },
  body: AutomationPatch,
): Promise<StoredAutomation> {
  await checkSkills(deps.db, agent, body.skills ?? []);
  return await deps.db.transaction(async (tx) => {
    const current = await getLocked(tx, subject, id);
    const fields = planPatch(current, body, new Date());
    await updateAutomation(tx, id, fields);
    return { ...current, ...fields, failedStarts: 0, updatedAt: new Date() };
  });
}

export async function getLocked(tx: Queryable, subject: Subject, id: string): Promise<StoredAutomation> {
  const automation = await lockAutomation(tx, subject, id);
  if (automation === undefined) throw errors.notFound('automation');
  return automation;
}

/** Starts a run manually, independent of the schedule. Returns its session. */
export async function triggerAutomation(
  deps: ApiDeps,
  agent: StoredAgent,
  subject: Subject,
  id: string,
): Promise<string> {
  const version = await getVersion(deps.db, agent, agent.productionVersion);
  const [run] = await deps.db.transaction(async (tx) => {
    const automation = await getLocked(tx, subject, id);
    const missing = automation.skills.find((skill) => !version.skills.includes(skill));
    if (missing !== undefined) throw errors.invalidState('The production version lacks a skill of the automation.');
    return startRuns(tx, [{ automation, version: { id: version.id, number: version.version }, scheduled: false }]);
  });
  if (run === undefined) throw errors.notFound('automation');
  publishEvents(deps.bus, deps.log, run.organizationId, run.events);
  sendWake(deps.bus, run.sessionId);
  return run.sessionId;
}
