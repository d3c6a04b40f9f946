import { CapstanError } from '../errors.ts';
import type { CauseOptions } from '../errors.ts';

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
  ping(): Promise<void>;
  close(): Promise<void>;
};

export class DbUnavailableError extends CapstanError<'database_unavailable'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('database_unavailable', message, { ...options, retryable: true });
  }
}

/** SQLSTATE of a unique violation, on both adapters: `isUniqueViolation(error)`. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505';
}
