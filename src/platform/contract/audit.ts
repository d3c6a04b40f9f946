import { z } from 'zod';
import { CursorPage, GivenTime, Id, Timestamp, cursorListOf } from './common.ts';
import { defineRoute } from './route.ts';

const Resource = z.object({ type: z.string().nullable(), id: z.string().nullable() });

/** The hashed content of a record, with its position in the chain. */
export const AuditEntry = z.object({
  id: Id,
  time: Timestamp,
  organization: z.string(),
  organizationId: Id,
  actor: z.object({
    type: z.enum(['key', 'user', 'cli', 'system']),
    id: z.string(),
    name: z.string(),
    ip: z.string().nullable(),
    userAgent: z.string().nullable(),
  }),
  action: z.string().describe('the operationId'),
  resource: Resource,
  outcome: z.enum(['success', 'failure']),
  requestId: z.string().nullable(),
  changes: z
    .record(z.string(), z.unknown())
    .describe('fields of the request; what may be content or secret is blanked'),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** `at`, `target`, `address` and `details` say the same as `time`, `resource`, `actor.ip` and `changes`. */
export const AuditRecord = AuditEntry.extend({
  object: z.literal('audit_entry'),
  sequence: z.int(),
  previousHash: z.string(),
  hash: z.string(),
  at: Timestamp,
  target: Resource,
  address: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
}).meta({ id: 'AuditRecord' });
export type AuditRecord = z.infer<typeof AuditRecord>;

export const AuditQuery = CursorPage.extend({
  actor: z.string().min(1).max(256).optional().describe('id of a key or a person'),
  action: z.string().min(1).max(256).optional(),
  resource: z.string().min(1).max(256).optional().describe('id, type, or type/id of what was changed'),
  from: GivenTime.optional(),
  to: GivenTime.optional(),
});
export type AuditQuery = z.infer<typeof AuditQuery>;

/** Whether the chain is whole; `brokenAt` is the first record that does not fit. */
export const AuditVerification = z
  .object({
    object: z.literal('audit_verification'),
    ok: z.boolean(),
    checked: z.int(),
    firstSequence: z.int().nullable(),
    lastSequence: z.int().nullable(),
    lastHash: z.string().nullable(),
    brokenAt: z.object({ sequence: z.int(), reason: z.enum(['altered', 'missing', 'unlinked']) }).nullable(),
  })
  .meta({ id: 'AuditVerification' });
export type AuditVerification = z.infer<typeof AuditVerification>;

const admin = { tag: 'Audit', scope: 'admin' } as const;

export const auditRoutes = {
  listAudit: defineRoute({
    ...admin,
    id: 'listAudit',
    method: 'GET',
    path: '/v1/audit',
    summary: 'Who changed what, newest first',
    query: AuditQuery,
    responses: { 200: cursorListOf(AuditRecord) },
    errors: [],
  }),
  verifyAudit: defineRoute({
    ...admin,
    id: 'verifyAudit',
    method: 'GET',
    path: '/v1/audit/verify',
    summary: 'Recompute the chain of all records',
    responses: { 200: AuditVerification },
    errors: [],
  }),
};
