// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { Timestamp } from './common.ts';

export type DemoUsage = {
  object: "demo_usage";
  /** entries of the ledger that were made */
  records: number;
  days: number;
  costUsd: number;
};

export type DemoUsageCreate = {
  /** also where the ledger has entries of other days */
  force?: boolean | undefined;
};

export type Organization = {
  object: "organization";
  id: string;
  name: string;
  createdAt: Timestamp;
};

export type OrganizationsOperations = {
  /**
   * The organizations whose keys the caller manages, newest first. `GET /v1/organizations`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listOrganizations(query?: { limit?: number | undefined; cursor?: string | undefined; offset?: number | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: Organization[];
    pagination: {
      limit: number;
      hasMore: boolean;
      /** null on the last page */
      nextCursor: string | null;
      /** absent where the page was asked for by cursor */
      offset?: number | undefined;
      /** absent where the page was asked for by cursor */
      total?: number | undefined;
    };
  }>;

  /**
   * Make up 30 days of usage of the subjects that have sessions; `metadata.demo` marks each entry. `POST /v1/demo-usage`
   *
   * Needs a key with the scope `owner`. Errors: validation_error, unauthorized, forbidden, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  createDemoUsage(body: DemoUsageCreate, options?: CallOptions): Promise<DemoUsage>;
};
