// Tests: test/people/audit.test.ts
import { AsyncLocalStorage } from 'node:async_hooks';
import type { AuditEntry, AuditRecord } from '../../contract/audit.ts';
import type { Db, Queryable } from '../../db/db.ts';
import { newId } from '../../ids.ts';
import { insertAudit } from '../../store/audit.ts';
import { findMadeId } from './describe.ts';
import type { ResourceRef } from './describe.ts';

/** The known facts about an operation before its first change. */
export type AuditDraft = Omit<AuditEntry, 'id' | 'time' | 'resource'> & { resource: ResourceRef };

/** One running operation. Its first change writes one record. */
type Operation = {
  draft: AuditDraft;
  madeId: string | undefined;
  /** a running or committed transaction writes the record */
  isClaimed: boolean;
  record: AuditRecord | undefined;
};

const operations = new AsyncLocalStorage<Operation>();

/** Statements that write. What reads may begin with `WITH` too, so that is looked into. */
function isWrite(sql: string): boolean {
  const text = sql.trimStart();
  if (/^(?:INSERT|UPDATE|DELETE)\b/i.test(text)) return true;
  if (/\bwrite_journal\(/.test(text)) return true;
  return /^WITH\b/i.test(text) && /\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\b/i.test(text);
}

function complete({ draft, madeId }: Operation): AuditEntry {
  const { type, id } = draft.resource;
  return { ...draft, id: newId('adt'), time: new Date().toISOString(), resource: { type, id: id ?? madeId ?? null } };
}

/** Watches what a transaction writes. */
function watch(tx: Queryable, operation: Operation): { tx: Queryable; hasWritten: () => boolean } {
  let written = false;
  const query = (async (sql, params) => {
    const answer = await tx.query(sql, params);
    if (answer.rowCount > 0 && isWrite(sql)) {
      written = true;
      operation.madeId ??= findMadeId(operation.draft.resource.prefix, params);
    }
    return answer;
  }) as Queryable['query'];
  return { tx: { query }, hasWritten: () => written };
}

async function runRecorded<T>(db: Db, operation: Operation, work: (tx: Queryable) => Promise<T>): Promise<T> {
  let writing: Promise<AuditRecord> | undefined;
  try {
    const result = await db.transaction(async (tx) => {
      const watched = watch(tx, operation);
      const value = await work(watched.tx);
      if (!watched.hasWritten() || operation.isClaimed) return value;
      operation.isClaimed = true;
      // Last, since it holds the end of the organization's chain until the commit. Not waited for, so that the commit goes
      // out with it: other writers of the chain wait less. If it fails, so does the commit.
      writing = insertAudit(tx, complete(operation));
      writing.catch(() => undefined);
      return value;
    });
    operation.record ??= await writing;
    return result;
  } catch (error) {
    if (writing === undefined) throw error;
    // Rolled back: the next change of the operation takes the record.
    operation.isClaimed = false;
    // The commit only says that a statement failed; this one says why.
    await writing;
    throw error;
  }
}

/** A database that writes the record of an operation in the transaction of its first change. */
export function auditDb(db: Db): Db {
  const query = ((sql, params) => {
    const operation = operations.getStore();
    if (operation === undefined || operation.isClaimed || !isWrite(sql)) return db.query(sql, params);
    return runRecorded(db, operation, (tx) => tx.query(sql, params));
  }) as Db['query'];
  return {
    ...db,
    query,
    transaction(work) {
      const operation = operations.getStore();
      if (operation === undefined || operation.isClaimed) return db.transaction(work);
      return runRecorded(db, operation, work);
    },
  };
}

/**
 * Runs an operation, whose record is written with its first change; undefined where it changed nothing. `always`: it
 * changes what is not in the database, and its record is written behind it.
 */
export async function runAudited<T>(
  db: Db,
  draft: AuditDraft,
  always: boolean,
  work: () => Promise<T>,
): Promise<{ result: T; record: AuditRecord | undefined }> {
  const operation: Operation = { draft, madeId: undefined, isClaimed: false, record: undefined };
  const result = await operations.run(operation, work);
  if (always && !operation.isClaimed) operation.record = await insertAudit(db, complete(operation));
  return { result, record: operation.record };
}
