import { encodeJson } from '../../platform/store/json.ts';
import type { Queryable } from '../../platform/db/db.ts';
import type { Waiting } from '../contract/events.ts';
import type { SessionMcpServer } from '../contract/sessions.ts';
import type { Claim } from './leases.ts';

/** Stores what the turn waits for, or that it no longer waits. Nothing changes when the lease was lost. */
export async function setWaiting(
  db: Queryable,
  { sessionId, epoch }: Pick<Claim, 'sessionId' | 'epoch'>,
  waiting: Waiting | null,
): Promise<void> {
  await db.query('UPDATE sessions SET waiting = $3::jsonb WHERE id = $1 AND lease_epoch = $2', [
    sessionId,
    epoch,
    waiting === null ? null : encodeJson(waiting),
  ]);
}

/** Stores what the session's MCP servers are like now. Nothing changes when the lease was lost. */
export async function setMcpServers(
  db: Queryable,
  { sessionId, epoch }: Pick<Claim, 'sessionId' | 'epoch'>,
  servers: readonly SessionMcpServer[],
): Promise<void> {
  await db.query('UPDATE sessions SET mcp_servers = $3::jsonb WHERE id = $1 AND lease_epoch = $2', [
    sessionId,
    epoch,
    encodeJson(servers),
  ]);
}
