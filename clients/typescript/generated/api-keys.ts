// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { Metadata, Timestamp } from './common.ts';

export type ApiKey = {
  object: "api_key";
  id: string;
  name: string;
  organization: string;
  organizationId: string;
  prefix: string;
  scopes: Array<"agents:read" | "agents:approve" | "agents:write" | "agents:deploy" | "inference" | "templates:read" | "login" | "services:read" | "admin" | "owner">;
  requestsPerMinute: number;
  tokensPerDay: number | null;
  models: string[] | null;
  metadata: Metadata;
  createdAt: Timestamp;
  expiresAt: Timestamp | null;
  lastUsedAt: Timestamp | null;
  /** until then the secret before the last rotation works too */
  previousExpiresAt: Timestamp | null;
  revokedAt: Timestamp | null;
};

export type ApiKeyCreate = {
  name: string;
  organization?: string | undefined;
  scopes?: Array<"agents:read" | "agents:approve" | "agents:write" | "agents:deploy" | "inference" | "templates:read" | "login" | "services:read" | "admin" | "owner"> | undefined;
  requestsPerMinute?: number | undefined;
  tokensPerDay?: number | null | undefined;
  expiresAt?: Timestamp | null | undefined;
  models?: string[] | null | undefined;
  metadata?: Metadata | undefined;
};

export type ApiKeyCreated = {
  object: "api_key";
  id: string;
  name: string;
  organization: string;
  organizationId: string;
  prefix: string;
  scopes: Array<"agents:read" | "agents:approve" | "agents:write" | "agents:deploy" | "inference" | "templates:read" | "login" | "services:read" | "admin" | "owner">;
  requestsPerMinute: number;
  tokensPerDay: number | null;
  models: string[] | null;
  metadata: Metadata;
  createdAt: Timestamp;
  expiresAt: Timestamp | null;
  lastUsedAt: Timestamp | null;
  /** until then the secret before the last rotation works too */
  previousExpiresAt: Timestamp | null;
  revokedAt: Timestamp | null;
  key: string;
};

export type ApiKeyPatch = {
  name?: string | undefined;
  scopes?: Array<"agents:read" | "agents:approve" | "agents:write" | "agents:deploy" | "inference" | "templates:read" | "login" | "services:read" | "admin" | "owner"> | undefined;
  requestsPerMinute?: number | undefined;
  tokensPerDay?: number | null | undefined;
  expiresAt?: Timestamp | null | undefined;
  models?: string[] | null | undefined;
  metadata?: Metadata | undefined;
};

export type ApiKeyRotate = {
  gracePeriodSeconds?: number | undefined;
};

export type APIkeysOperations = {
  /**
   * Every key, newest first, without its secret. `GET /v1/api-keys`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listApiKeys(query?: { limit?: number | undefined; cursor?: string | undefined; offset?: number | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: ApiKey[];
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
   * Make a key; an organization named for the first time is created. `POST /v1/api-keys`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, payload_too_large, rate_limited, server_error, storage_full.
   */
  createApiKey(body: ApiKeyCreate, options?: CallOptions): Promise<ApiKeyCreated>;

  /**
   * Change what a key may do; it takes effect within 5 s on every replica. `PATCH /v1/api-keys/{keyId}`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  patchApiKey(keyId: string, body: ApiKeyPatch, options?: CallOptions): Promise<ApiKey>;

  /**
   * Revoke a key; it stops working within 5 s on every replica. `DELETE /v1/api-keys/{keyId}`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  revokeApiKey(keyId: string, options?: CallOptions): Promise<{
    object: "api_key.deleted";
    id: string;
    deleted: true;
  }>;

  /**
   * Give a key a new secret; the one before works on for a grace period. `POST /v1/api-keys/{keyId}/rotate`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, not_found, invalid_state, payload_too_large, rate_limited, server_error, storage_full.
   */
  rotateApiKey(keyId: string, body?: ApiKeyRotate, options?: CallOptions): Promise<ApiKeyCreated>;
};
