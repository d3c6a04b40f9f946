import type { Queryable } from './db.ts';

/** A statement that does nothing but lock and read rows, should there be no transaction. */
function isRowLock(sql: string): boolean {
  return /^\s*SELECT\b/.test(sql) && /\bFOR (?:NO KEY )?UPDATE\b/.test(sql);
}

/**
 * What the work of a transaction gets. BEGIN is sent at once and not waited for by a first statement that locks rows: one
 * round trip less. Once the transaction has ended it refuses statements, which would run among those of others.
 * `begun` rejects if BEGIN failed, and has to be awaited before the commit.
 */
export function openTransaction(
  begin: () => Promise<unknown>,
  run: Queryable['query'],
): { tx: Queryable; begun: Promise<unknown>; end: () => void } {
  let isBegun = false;
  let ended = false;
  const begun = begin().then(() => (isBegun = true));
  begun.catch(() => undefined);
  const query = (async (sql, params) => {
    if (ended) throw new Error('The transaction has ended.');
    // Sent before this returns: a statement that the work does not wait for is part of the transaction.
    if (isBegun) return run(sql, params);
    const answer = isRowLock(sql) ? run(sql, params) : begun.then(() => run(sql, params));
    answer.catch(() => undefined);
    await begun;
    return answer;
  }) as Queryable['query'];
  return { tx: { query }, begun, end: () => void (ended = true) };
}
