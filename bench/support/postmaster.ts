import { readFileSync } from 'node:fs';
import type { Db } from '../../src/platform/db/db.ts';

/** The main process of a PostgreSQL server on this machine, the parent of all its others. */
export async function findPostmaster(db: Db): Promise<number> {
  const { rows } = await db.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const stat = readFileSync(`/proc/${rows[0]?.pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}
