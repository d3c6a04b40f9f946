import { CapstanError } from '../errors.ts';
import type { CauseOptions } from '../errors.ts';
import type { StorageState } from '../storage-floor.ts';

export type Row = Record<string, unknown>;

/**
 * What runs SQL. Values come back as: bigint and int → number, timestamptz → Date, jsonb → parsed, bytea → Uint8Array.
 * Parameters: Date, string, number, boolean, null, string[] and number[]; jsonb as `JSON.stringify(value)`.
 */
export type Queryable = {
  query<R extends Row = Row>(sql: string, params?: readonly unknown[]): Promise<{ rows: R[]; rowCount: number }>;
};

/** The relational store. Throws `DbUnavailableError` when the server cannot be reached. */
export type Db = Queryable & {
  /** True for the embedded database, which belongs to this one process. */
  readonly embedded: boolean;
  /**
   * Commits when `work` resolves, rolls back when it throws. Not to be nested; inside of `work` only `tx` may be used,
   * since the embedded database has one connection. Rolled back after a minute without a statement.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Several statements without parameters: migrations. The rows of all of them, in order. */
  exec<R extends Row = Row>(sql: string): Promise<{ rows: R[] }>;
  /** Grows with each change of the embedded database; absent where other processes write as well. */
  readonly revision?: () => number;
  ping(): Promise<void>;
  close(): Promise<void>;
  /** The disk below the database; absent where a server looks after its own. */
  readonly storage?: {
    read(): StorageState;
    /** From now on writes throw `StorageFullError` while there is too little space. Not before everything has started. */
    guard(): void;
  };
};

export class DbUnavailableError extends CapstanError<'database_unavailable' | 'storage_full'> {
  constructor(message: string, options: CauseOptions & { code?: 'storage_full' } = {}) {
    super(options.code ?? 'database_unavailable', message, { cause: options.cause, retryable: true });
  }
}

/** A write was refused or failed for want of disk space; reads go on. */
export class StorageFullError extends DbUnavailableError {
  constructor(options: CauseOptions = {}) {
    super('The storage is full: nothing can be written until space is freed.', { ...options, code: 'storage_full' });
  }
}

/** SQLSTATE of PostgreSQL for a disk that is full. */
export const DISK_FULL = '53100';

/** SQLSTATE of a unique violation, on both adapters: `isUniqueViolation(error)`. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505';
}
