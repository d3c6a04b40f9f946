import { isDeepStrictEqual } from 'node:util';
import type { OidcConfig } from '../../contract/oidc.ts';
import type { Db } from '../../db/db.ts';
import { ensureOrganization } from '../../store/keys.ts';
import { findUser, upsertUser } from '../../store/users.ts';
import type { SignedInUser } from '../../contract/sign-ins.ts';
import { findRole, readIdentity } from './claims.ts';
import type { Claims, Identity } from './claims.ts';
import type { OidcProvider } from './provider.ts';

export type KnownPerson = { organizationId: string; organization: string; user: SignedInUser };

/** The stored state of a person, so that unchanged rows are not written. */
type Stored = SignedInUser | undefined;

function describe(config: OidcConfig, { groups, ...identity }: Identity, stored: Stored) {
  // An access token need not name groups: then the last sign-in says them.
  const known = groups ?? stored?.groups ?? [];
  const role = findRole(config, known);
  if (role === undefined) return undefined;
  const email = identity.email ?? stored?.email ?? null;
  return { email, name: identity.name ?? stored?.name ?? null, role, groups: known };
}

/** A person's row as the claims describe them; undefined where they have no role here. Throws `forbidden`. */
export async function findPerson(
  db: Db,
  { config }: OidcProvider,
  claims: Claims,
  use: 'sign-in' | 'token',
): Promise<KnownPerson | undefined> {
  const identity = readIdentity(config, claims);
  const { organization, externalId } = identity;
  const organizationId = await ensureOrganization(db, organization);
  const place = { organizationId, issuer: config.issuer, externalId };
  const stored = use === 'sign-in' ? undefined : await findUser(db, place);
  const described = describe(config, identity, stored);
  if (described === undefined) return undefined;
  const isSame = stored !== undefined && isDeepStrictEqual({ ...described, id: stored.id }, stored);
  const user = isSame ? stored : await upsertUser(db, { ...place, ...described });
  return { organizationId, organization, user };
}

/** Whose access token of the issuer this is; undefined for any other token. Throws `unavailable`. */
export async function findTokenOwner(
  db: Db,
  oidc: OidcProvider,
  token: string,
): Promise<(KnownPerson & { expiresAt: Date }) | undefined> {
  const claims = await oidc.tokens.verifyAccessToken(token);
  const person = claims && (await findPerson(db, oidc, claims, 'token'));
  return person && { ...person, expiresAt: new Date(Number(claims.exp) * 1000) };
}
