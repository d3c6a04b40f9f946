import { readFileSync, readdirSync } from 'node:fs';

type Row = { pid: number; parent: number; group: number; session: number };

/**
 * Lists all visible processes. The command name in `stat` may contain any text, so fields are counted from its last
 * `)`.
 */
function listRows(): Row[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'latin1');
      const [, parent, group, session] = text.slice(text.lastIndexOf(')') + 2).split(' ');
      return [{ pid: Number(name), parent: Number(parent), group: Number(group), session: Number(session) }];
    } catch {
      return [];
    }
  });
}

function carriesMark(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark);
  } catch {
    return false;
  }
}

/**
 * The processes that a command started: its descendants, its group and session, and every process with its call tag in
 * the environment. The tag also finds daemons that left the tree by `setsid` and a double fork.
 */
export function findTree(leader: number, mark: string): number[] {
  const rows = listRows();
  const tree = new Set([leader]);
  for (let grown = true; grown;) {
    grown = false;
    for (const row of rows) {
      const member = tree.has(row.parent) || row.group === leader || row.session === leader;
      if (member && !tree.has(row.pid) && row.pid !== process.pid) {
        tree.add(row.pid);
        grown = true;
      }
    }
  }
  for (const row of rows) if (row.pid !== process.pid && carriesMark(row.pid, mark)) tree.add(row.pid);
  return [...tree].filter((pid) => rows.some((row) => row.pid === pid));
}

function send(pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // already ended
    }
  }
}

/** Sends SIGTERM to the whole tree, and SIGKILL after `graceMs`. Children forked meanwhile are included. */
export async function killTree(leader: number, mark: string, graceMs = 2000): Promise<void> {
  const end = Date.now() + graceMs;
  const first = findTree(leader, mark);
  send(first, 'SIGTERM');
  // a stopped process does not handle SIGTERM
  send(first, 'SIGCONT');
  while (Date.now() < end) {
    if (findTree(leader, mark).length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  for (let round = 0; round < 20; round++) {
    const left = findTree(leader, mark);
    if (left.length === 0) return;
    send(left, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
