// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';

export type CreditGrant = {
  organization: string;
  amount: number;
};

export type Credits = {
  balance: number;
  reserved: number;
};

export type CreditsOperations = {
  /**
   * Credit balance, and credits reserved for generations in progress. `GET /api/credits`
   *
   * Needs a key with the scope `templates:read` or `services:read`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  getCredits(options?: CallOptions): Promise<{
    data: Credits;
  }>;

  /**
   * Give an organization credits. `POST /api/credits`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, not_found, payload_too_large, rate_limited, server_error, storage_full.
   */
  grantCredits(body: CreditGrant, options?: CallOptions): Promise<{
    data: Credits;
  }>;
};
