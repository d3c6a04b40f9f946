import { findToolsetPolicy } from '../loop/tool-calls/policy.ts';
import type { Sandboxes } from '../../sandbox/sandbox.ts';
import type { Db } from '../../platform/db/db.ts';
import type { LogEvent } from '../log/event.ts';
import { countCompactions } from '../log/read.ts';
import type { ToolConfig } from '../contract/tools.ts';
import { SANDBOX_TOOLSETS } from '../contract/toolsets.ts';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import { findSession } from '../store/sessions.ts';
import type { Claim } from '../store/leases.ts';

/** The first turn of a session with tools that work in the sandbox. Later on it is the call that brings it back. */
export function needsSandbox(events: readonly LogEvent[], tools: readonly ToolConfig[]): boolean {
  if (countCompactions(events) > 0 || events.filter(({ type }) => type === 'session.status_running').length > 1)
    return false;
  return SANDBOX_TOOLSETS.some((toolset) => {
    const { enabled, policy } = findToolsetPolicy(tools, toolset);
    return enabled && policy !== 'always_deny';
  });
}

/** Starts the sandbox concurrently with the first model call. The turn waits neither for it nor for its failure. */
export function startSandbox(
  claim: Claim,
  { db, sandboxes, log }: { db: Db; sandboxes: Sandboxes; log: Logger },
): void {
  const { organizationId, agentId, subjectId, sessionId } = claim;
  const target = { organizationId, agentId, subjectId, sessionId };
  const start = async (): Promise<void> => {
    await sandboxes.prepare(target);
    // The session may have been deleted meanwhile; then this sandbox must be removed here.
    const session = await findSession(db, organizationId, sessionId);
    if (session === undefined || session.status === 'archived') await sandboxes.remove(target);
  };
  start().catch((error: unknown) => log.warn({ error: errorText(error) }, 'the sandbox starts with its first call'));
}
