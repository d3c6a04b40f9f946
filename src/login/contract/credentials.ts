import { z } from 'zod';
import { Cursor, CursorPagination, Timestamp, queryInteger } from '../../platform/contract/common.ts';
import { Passkeys } from './passkeys.ts';
import {
  AdditionalFields,
  CollectionId,
  LoginCred,
  LoginMailbox,
  LoginMethod,
  Secret,
  SiteUrl,
  TotpSecret,
  Username,
  checkCred,
} from './shapes.ts';

/** An account that exists already. */
export const NewCredential = z
  .object({
    domain: SiteUrl,
    loginMethod: LoginMethod.default('password'),
    cred: LoginCred.omit({ totpCode: true, phone: true }).extend({ passkeys: Passkeys.optional() }),
    collectionId: CollectionId.optional(),
    additionalFields: AdditionalFields.optional(),
    /** sign in again before each session ends, without a call */
    autoRefresh: z.boolean().default(false),
    /** create a passkey and store it here where the site offers or demands one, unless one is stored */
    enrolPasskey: z.boolean().default(false),
  })
  .superRefine(checkCred)
  .meta({ id: 'NewStoredLogin' });
export type NewCredential = z.infer<typeof NewCredential>;

/** Omitted fields stay unchanged; null removes a value. */
export const CredentialChange = z
  .object({
    cred: z
      .object({
        username: Username.optional(),
        password: Secret.optional(),
        totpSecret: TotpSecret.nullable().optional(),
        mailbox: LoginMailbox.nullable().optional(),
        passkeys: Passkeys.nullable().optional(),
      })
      .optional(),
    loginMethod: LoginMethod.optional(),
    additionalFields: AdditionalFields.optional(),
    autoRefresh: z.boolean().optional(),
    enrolPasskey: z.boolean().optional(),
  })
  .meta({ id: 'StoredLoginChange' });
export type CredentialChange = z.infer<typeof CredentialChange>;

export const CredentialHealth = z.enum(['unknown', 'healthy', 'needs_attention']);
export type CredentialHealth = z.infer<typeof CredentialHealth>;

export const StoredCredential = z
  .object({
    credentialId: z.string(),
    domain: z.string(),
    username: z.string().nullable(),
    collectionId: z.string().nullable(),
    method: z.string(),
    /** the result of the last login; `unknown` before the first and after a change */
    health: CredentialHealth,
    /** the error that needs attention */
    healthCode: z.string().nullable(),
    /** when `health` was last updated */
    checkedAt: Timestamp.nullable(),
    autoRefresh: z.boolean(),
    /** time of the next renewal; null if renewal is off or the credential needs attention */
    nextRefreshAt: Timestamp.nullable(),
    /** how many passkeys are stored */
    passkeys: z.int(),
    enrolPasskey: z.boolean(),
    createdAt: Timestamp,
    expiresAt: Timestamp.nullable(),
  })
  .meta({ id: 'StoredLogin' });
export type StoredCredential = z.infer<typeof StoredCredential>;

/** A list that was returned whole before pagination existed. */
export const CredentialListQuery = z.object({
  limit: queryInteger({ min: 1, max: 1000, default: 1000 }),
  cursor: Cursor.optional().describe('`nextCursor` of the page before'),
});
export type CredentialListQuery = z.infer<typeof CredentialListQuery>;

export const CredentialList = z.object({ data: z.array(StoredCredential), pagination: CursorPagination });
