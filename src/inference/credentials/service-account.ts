// Tests: test/inference/credentials/service-account.test.ts
import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { isRecord } from '../../platform/records.ts';

/** The parts of a service account's key that sign requests for tokens. */
const ServiceAccount = z.object({
  type: z.literal('service_account', {
    error: 'must be service_account: other credentials name addresses, files or programs',
  }),
  client_email: z.string().regex(/^[^\s@]{1,200}@[^\s@]{1,200}$/, 'must be the address of a service account'),
  private_key: z.string().max(10_000).refine(isPrivateKey, 'must be a private key in PEM'),
  private_key_id: z.string().max(200).optional(),
});
export type ServiceAccount = z.infer<typeof ServiceAccount>;

/** Where tokens come from. A key that names another place is refused, although the place would not be used. */
const FIXED = {
  token_uri: ['https://oauth2.googleapis.com/token', 'https://accounts.google.com/o/oauth2/token'],
  universe_domain: ['googleapis.com'],
} as const;

/** The field of the key, if one is wrong, and what is expected. */
export type ServiceAccountIssue = { field: string | undefined; message: string };

function isPrivateKey(text: string): boolean {
  try {
    return createPrivateKey(text).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

function parse(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** Reads the JSON key of a service account, as text or parsed. Fields that are not needed to sign are left out. */
export function readServiceAccount(value: unknown): { account: ServiceAccount } | { issue: ServiceAccountIssue } {
  const parsed = parse(value);
  if (!isRecord(parsed)) {
    return { issue: { field: undefined, message: 'must be the JSON key of a service account' } };
  }
  for (const [field, allowed] of Object.entries(FIXED)) {
    const given = parsed[field];
    if (given === undefined || allowed.some((each) => each === given)) continue;
    return { issue: { field, message: `must be ${allowed[0]}` } };
  }
  const result = ServiceAccount.safeParse(parsed);
  if (result.success) return { account: result.data };
  const [issue] = result.error.issues;
  return { issue: { field: issue?.path.join('.'), message: issue?.message ?? 'is not valid' } };
}
