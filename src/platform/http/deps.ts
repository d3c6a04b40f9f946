import type { Trace } from '../trace-context.ts';
import type { WorkContext } from '../work-context.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import type { Bus } from '../bus/bus.ts';
import type { Db } from '../db/db.ts';
import type { Limits } from '../limits/limits.ts';
import type { Scope } from '../contract/keys.ts';
import type { SignedInUser } from '../contract/sign-ins.ts';
import type { Logger } from '../log.ts';
import type { OidcProvider } from './oidc/provider.ts';
import type { Audit } from './audit/audit.ts';
import type { HttpMetrics } from './metrics.ts';
import type { StreamSlots } from './stream-slots.ts';

/** What any HTTP surface is given from outside. */
export type HttpPorts = {
  db: Db;
  bus: Bus;
  limits: Limits;
  log: Logger;
  /** what `/readyz` asks beside these, by name */
  backends?: Record<string, { ping(): Promise<void> }>;
  /** shared by the roles of one process; absent: the server's own, with the default metrics */
  registry?: Registry;
};

/** The owner of the request's key, or the person signed in at the browser. */
export type Caller = {
  organizationId: string;
  organization: string;
  /** the key's; of a person without a key, the user's id */
  keyId: string;
  /** the key's, or the sign-in's: requests are counted by it, and streams end with it */
  credentialId: string;
  /** of an access token; streams end then */
  expiresAt?: Date;
  /** all that it may do */
  scopes: readonly Scope[];
  /** those that its key was given, which may imply more; of a person, the role's */
  grantedScopes: readonly Scope[];
  requestsPerMinute: number;
  /** at the gateway; null: the server's limit */
  tokensPerDay: number | null;
  /** patterns of the models that it may use; null: all */
  models: readonly string[] | null;
  /** null for a key, whoever uses it */
  user: SignedInUser | null;
  /** who is named in records of what was done */
  actor: { type: 'key' | 'user'; id: string; name: string };
};

/** Throws `unauthorized`, `rate_limited` or `unavailable`; sets the rate-limit headers on the reply. */
export type Authenticate = (request: FastifyRequest, reply: FastifyReply) => Promise<Caller>;

/** What the server gives to every surface on it. */
export type HttpDeps = {
  /** the port's; what an operation changes through it leaves a record, in the same transaction */
  db: Db;
  audit: Audit;
  authenticate: Authenticate;
  metrics: HttpMetrics;
  streamSlots: StreamSlots;
  /** aborted when the server starts to close: open streams must end then */
  closing: AbortSignal;
  /** the address of this server as browsers know it; absent: the one that a request came to */
  publicUrl: string | undefined;
  /** of the people who use this server; absent: none */
  oidc: OidcProvider | undefined;
};

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined;
    trace: Trace | undefined;
    work: WorkContext | undefined;
  }
}
