// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { Timestamp } from './common.ts';

export type AuditRecord = {
  id: string;
  time: Timestamp;
  organization: string;
  organizationId: string;
  actor: {
    type: "key" | "user" | "cli" | "system";
    id: string;
    name: string;
    ip: string | null;
    userAgent: string | null;
  };
  /** the operationId */
  action: string;
  resource: {
    type: string | null;
    id: string | null;
  };
  outcome: "success" | "failure";
  requestId: string | null;
  /** fields of the request; what may be content or secret is blanked */
  changes: Record<string, unknown>;
  object: "audit_entry";
  sequence: number;
  previousHash: string;
  hash: string;
  at: Timestamp;
  target: {
    type: string | null;
    id: string | null;
  };
  address: string | null;
  details: Record<string, unknown>;
};

export type AuditVerification = {
  object: "audit_verification";
  ok: boolean;
  checked: number;
  firstSequence: number | null;
  lastSequence: number | null;
  lastHash: string | null;
  brokenAt: {
    sequence: number;
    reason: "altered" | "missing" | "unlinked";
  } | null;
};

export type AuditOperations = {
  /**
   * Who changed what, newest first. `GET /v1/audit`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listAudit(query?: { limit?: number | undefined; cursor?: string | undefined; actor?: string | undefined; action?: string | undefined; resource?: string | undefined; from?: Timestamp | undefined; to?: Timestamp | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: AuditRecord[];
    pagination: {
      limit: number;
      hasMore: boolean;
      /** null on the last page */
      nextCursor: string | null;
    };
  }>;

  /**
   * Recompute the chain of all records. `GET /v1/audit/verify`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  verifyAudit(options?: CallOptions): Promise<AuditVerification>;
};
