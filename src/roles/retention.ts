import { deleteOldSessions, deleteOldSubjects, finishRemovals } from '../agents/api/subjects/remove.ts';
import type { RemovalPorts } from '../agents/api/subjects/remove.ts';
import { deleteArchivedLogs, dropEmptyEventPartitions } from '../agents/store/retention.ts';
import { deleteOldRequests } from '../gateway/store/requests.ts';
import { startPeriodicTasks } from '../platform/jobs/periodic-tasks.ts';
import { deleteOldAudit } from '../platform/store/audit.ts';
import { deleteOldUsage, rollUpUsage } from '../platform/store/usage.ts';
import type { Config } from './config/config.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Few enough that a transaction is short. */
const BATCH = 20;
const GATEWAY_REQUEST_DAYS = 30;
const REQUEST_BATCH = 5000;
const MINUTE_MS = 60_000;
/** Rows of the ledger in one transaction. */
const ROLL_UP = 5000;

/** Deletes what the settings no longer keep, until it is closed. Any number of replicas may run it. */
export function startRetention(
  ports: RemovalPorts,
  { archivedSessionDays, usageDays, sessionDays, subjectDays }: Config['file']['retention'],
  { retentionDays: auditDays }: Config['file']['audit'],
): { close(): Promise<void> } {
  const { db, log } = ports;
  return startPeriodicTasks(
    [
      { name: 'finish deletions', periodMs: MINUTE_MS / 2, immediately: true, run: () => finishRemovals(ports) },
      ...(sessionDays === undefined
        ? []
        : [{ name: 'delete old sessions', periodMs: HOUR_MS, run: () => deleteOldSessions(ports, sessionDays) }]),
      ...(subjectDays === undefined
        ? []
        : [{ name: 'delete old subjects', periodMs: HOUR_MS, run: () => deleteOldSubjects(ports, subjectDays) }]),
      {
        name: 'delete logs of archived sessions',
        periodMs: HOUR_MS,
        run: async () => (await deleteArchivedLogs(db, archivedSessionDays, BATCH)) === BATCH,
      },
      {
        name: 'roll up usage',
        periodMs: MINUTE_MS,
        run: async () => (await rollUpUsage(db, ROLL_UP)) === ROLL_UP,
      },
      { name: 'delete old usage', periodMs: DAY_MS, run: async () => void (await deleteOldUsage(db, usageDays)) },
      { name: 'delete old audit records', periodMs: HOUR_MS, run: () => deleteOldAudit(db, auditDays) },
      {
        name: 'delete old records of the gateway',
        periodMs: HOUR_MS,
        run: async () => (await deleteOldRequests(db, GATEWAY_REQUEST_DAYS, REQUEST_BATCH)) === REQUEST_BATCH,
      },
      {
        name: 'drop empty partitions',
        periodMs: DAY_MS,
        run: async () => void (await dropEmptyEventPartitions(db, new Date())),
      },
    ],
    log,
  );
}
