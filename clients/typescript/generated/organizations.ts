// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { Timestamp } from './common.ts';

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
};
