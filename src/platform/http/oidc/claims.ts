import { OrganizationName } from '../../contract/keys.ts';
import type { OidcConfig } from '../../contract/oidc.ts';
import { ROLES } from '../../contract/roles.ts';
import type { Role } from '../../contract/roles.ts';
import { errors } from '../../errors.ts';
import { BOOTSTRAP_ORGANIZATION } from '../../store/keys.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** An identity provider's claims about a person. `groups` is undefined if it sends none. */
export type Identity = {
  externalId: string;
  organization: string;
  email: string | null;
  name: string | null;
  groups: string[] | undefined;
};

const MAX_GROUPS = 500;
const MAX_TEXT = 500;

function readText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_TEXT) : null;
}

function readGroups(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((item) => typeof item === 'string').slice(0, MAX_GROUPS);
}

/**
 * An address that the provider says nobody has confirmed is none: anyone could name another person's there, and approvals
 * go by addresses. A claim of another name is the operator's own choice.
 */
function readEmail({ emailClaim }: OidcConfig, claims: Claims): string | null {
  const verified = claims['email_verified'];
  const isUnconfirmed = emailClaim === 'email' && (verified === false || verified === 'false');
  return isUnconfirmed ? null : readText(claims[emailClaim]);
}

function findOrganizationName({ organizationClaim }: OidcConfig, claims: Claims): string {
  if (organizationClaim === undefined) return BOOTSTRAP_ORGANIZATION;
  const name = OrganizationName.safeParse(claims[organizationClaim]);
  if (!name.success) throw errors.forbidden(`The claim ${organizationClaim} names no organization.`);
  return name.data;
}

/** Throws `forbidden` where the claims name no organization. */
export function readIdentity(config: OidcConfig, claims: Claims): Identity {
  const { sub } = claims;
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_TEXT) throw errors.unauthorized();
  return {
    externalId: sub,
    organization: findOrganizationName(config, claims),
    email: readEmail(config, claims),
    name: readText(claims['name']) ?? readText(claims['preferred_username']),
    groups: readGroups(claims[config.groupsClaim]),
  };
}

/** The highest role of the groups, or the default; undefined where there is neither. */
export function findRole({ roles, defaultRole }: OidcConfig, groups: readonly string[]): Role | undefined {
  const own = groups.flatMap((group) => (Object.hasOwn(roles, group) ? (roles[group] ?? []) : []));
  return ROLES.findLast((role) => own.includes(role)) ?? defaultRole;
}
