/** Where a server kills itself: at the n-th statement of a kind since it was armed, which the first is at its start; before it is sent or once it is done. */
export type CrashPoint = {
  /** `journal`: appends to the log; `write`: anything that changes the database, commits included; `delivered`: a webhook's delivery is noted */
  statement: 'journal' | 'write' | 'delivered';
  number: number;
  when: 'before' | 'after';
};

/** Environment variable of the server under test that holds its `CrashPoint` as JSON. */
export const POINT_VARIABLE = 'CRASH_POINT';

/** Printed by a server once it is armed again. */
export const ARMED = 'armed';

const STATEMENTS = {
  journal: /write_journal/,
  delivered: /webhook_deliveries SET state = 'delivered'/,
  write: /write_journal|^\s*(INSERT|UPDATE|DELETE|COMMIT|WITH due)/,
};

export function matchesPoint(point: CrashPoint, sql: string): boolean {
  return STATEMENTS[point.statement].test(sql);
}
