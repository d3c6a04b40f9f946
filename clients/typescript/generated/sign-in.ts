// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { Timestamp } from './common.ts';

export type Caller = {
  object: "caller";
  organization: string;
  organizationId: string;
  keyId: string | null;
  user: SignedInUser | null;
  scopes: Array<"agents:read" | "agents:approve" | "agents:write" | "agents:deploy" | "inference" | "templates:read" | "login" | "services:read" | "admin" | "owner">;
  effectiveScopes: Array<"agents:read" | "agents:approve" | "agents:write" | "agents:deploy" | "inference" | "templates:read" | "login" | "services:read" | "admin" | "owner">;
  requestsPerMinute: number;
  services: Array<"agents" | "inference" | "video" | "login">;
  version: string;
};

export type SignIn = {
  object: "sign_in";
  id: string;
  organization: string;
  organizationId: string;
  scopes: Array<"agents:read" | "agents:approve" | "agents:write" | "agents:deploy" | "inference" | "templates:read" | "login" | "services:read" | "admin" | "owner">;
  expiresAt: Timestamp;
};

export type SignInCreate = {
  key: string;
};

export type SignInMethod = {
  type: "key" | "oidc";
  issuer: string | null;
  href: string | null;
};

export type SignedInUser = {
  id: string;
  email: string | null;
  name: string | null;
  role: "viewer" | "approver" | "builder" | "operator" | "admin" | "owner";
  groups: string[];
};

export type SigninOperations = {
  /**
   * Whose key or sign-in this is, and its scopes. `GET /v1/me`
   *
   *  Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  getCaller(options?: CallOptions): Promise<Caller>;

  /**
   * Sign a browser in with an API key; the answer sets a cookie. `POST /v1/sign-ins`
   *
   *  Errors: validation_error, unauthorized, forbidden, payload_too_large, rate_limited, server_error, storage_full.
   */
  createSignIn(body: SignInCreate, options?: CallOptions): Promise<SignIn>;

  /**
   * Sign this browser out. `DELETE /v1/sign-ins/current`
   *
   *  Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  deleteSignIn(options?: CallOptions): Promise<{
    object: "sign_in.deleted";
    id: string;
    deleted: true;
    logoutUrl: string | null;
  }>;

  /**
   * The ways to sign a browser in. `GET /v1/sign-in-methods`
   *
   *  Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listSignInMethods(options?: CallOptions): Promise<{
    object: "list";
    data: SignInMethod[];
  }>;
};
