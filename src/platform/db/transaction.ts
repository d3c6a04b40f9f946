import type { Queryable } from './db.ts';

/**
 * What the work of a transaction gets. Once the transaction has ended it refuses statements, which would run among
 * those of others.
 */
export function openTransaction(run: Queryable['query']): { tx: Queryable; end: () => void } {
  let ended = false;
  const query = ((sql, params) => {
    if (ended) return Promise.reject(new Error('The transaction has ended.'));
    return run(sql, params);
  }) as Queryable['query'];
  return { tx: { query }, end: () => void (ended = true) };
}
