// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions, List } from '../options.ts';
import type { Timestamp } from './common.ts';

export type ApiKey = {
  object: "api_key";
  id: string;
  name: string;
  organization: string;
  organizationId: string;
  prefix: string;
  scopes: Array<"agents:read" | "agents:approve" | "agents:write" | "agents:deploy" | "inference" | "templates:read" | "login" | "services:read" | "admin" | "owner">;
  requestsPerMinute: number;
  createdAt: Timestamp;
  revokedAt: Timestamp | null;
};

export type ApiKeyCreate = {
  name: string;
  organization?: string | undefined;
  scopes?: Array<"agents:read" | "agents:approve" | "agents:write" | "agents:deploy" | "inference" | "templates:read" | "login" | "services:read" | "admin" | "owner"> | undefined;
  requestsPerMinute?: number | undefined;
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
  createdAt: Timestamp;
  revokedAt: Timestamp | null;
  key: string;
};

export type APIkeysOperations = {
  /**
   * Every key, newest first, without its secret. `GET /v1/api-keys`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listApiKeys(query?: { limit?: number | undefined; offset?: number | undefined }, options?: CallOptions): Promise<List<ApiKey>>;

  /**
   * Make a key; an organization named for the first time is created. `POST /v1/api-keys`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, payload_too_large, rate_limited, server_error, storage_full.
   */
  createApiKey(body: ApiKeyCreate, options?: CallOptions): Promise<ApiKeyCreated>;

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
};
