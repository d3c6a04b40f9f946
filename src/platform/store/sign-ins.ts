import type { Db, Queryable } from '../db/db.ts';
import type { ApiKey, Scope } from '../contract/keys.ts';
import { ROLE_SCOPES } from '../contract/roles.ts';
import type { Role } from '../contract/roles.ts';
import type { SignedInUser } from '../contract/sign-ins.ts';
import { randomToken, sha256 } from '../crypto.ts';
import { newId } from '../ids.ts';
import { IS_ACTIVE } from './keys.ts';

/** A sign-in expires after the first interval without requests, and after the second in any case. */
const IDLE = "interval '12 hours'";
const LIFETIME = "interval '7 days'";
/** Requests closer together than this write nothing. */
const TOUCH = "interval '5 minutes'";
/** Browsers that one key or person may be signed in with; the oldest are signed out first. */
const MAX_PER_OWNER = 100;

type KeyLimits = Pick<ApiKey, 'models' | 'tokensPerDay'>;

/** A browser that is signed in, with a key or as a person. */
export type ActiveSignIn = {
  id: string;
  organizationId: string;
  organization: string;
  owner:
    | { type: 'key'; key: { id: string; name: string; scopes: Scope[] } & KeyLimits }
    | { type: 'user'; user: SignedInUser };
};

type SignInRow = {
  id: string;
  organization_id: string;
  organization: string;
  key_id: string | null;
  key_name: string | null;
  scopes: Scope[] | null;
  models: string[] | null;
  tokens_per_day: number | null;
  user_id: string | null;
  email: string | null;
  user_name: string | null;
  role: Role | null;
  groups: string[] | null;
  is_stale: boolean;
};

const ACTIVE = `FROM sign_ins s
  JOIN organizations o ON o.id = s.organization_id
  LEFT JOIN api_keys k ON k.id = s.key_id
  LEFT JOIN users u ON u.id = s.user_id
  WHERE s.expires_at > now() AND s.last_used_at > now() - ${IDLE} AND (s.key_id IS NULL OR (${IS_ACTIVE}))`;

function readOwner(row: SignInRow): ActiveSignIn['owner'] {
  const { key_id: keyId, user_id: userId, key_name: keyName, scopes, role } = row;
  if (userId !== null && role !== null) {
    const { email, user_name: name, groups } = row;
    return { type: 'user', user: { id: userId, email, name, role, groups: groups ?? [] } };
  }
  if (keyId === null || keyName === null || scopes === null) throw new Error('A sign-in has neither key nor person.');
  return {
    type: 'key',
    key: { id: keyId, name: keyName, scopes, models: row.models, tokensPerDay: row.tokens_per_day },
  };
}

/** Who is signed in. `issuerSession` and `idToken` (sealed) come from an identity provider. */
export type SignInOwner = {
  organizationId: string;
  keyId?: string;
  userId?: string;
  issuerSession?: string | undefined;
  idToken?: object | undefined;
};

/** Signs a browser in. The token is for its cookie; only its hash is kept. */
export async function createSignIn(
  db: Queryable,
  owner: SignInOwner,
): Promise<{ id: string; token: string; expiresAt: Date }> {
  const { organizationId, keyId = null, userId = null, issuerSession = null, idToken } = owner;
  const token = randomToken(32);
  const id = newId('sgn');
  await db.query(
    `DELETE FROM sign_ins WHERE id IN (
       (SELECT id FROM sign_ins WHERE expires_at <= now() ORDER BY expires_at LIMIT 100)
       UNION ALL (SELECT id FROM sign_ins WHERE key_id = $1 ORDER BY id DESC OFFSET ${MAX_PER_OWNER - 1})
       UNION ALL (SELECT id FROM sign_ins WHERE user_id = $2 ORDER BY id DESC OFFSET ${MAX_PER_OWNER - 1}))`,
    [keyId, userId],
  );
  const { rows } = await db.query<{ expires_at: Date }>(
    `INSERT INTO sign_ins (id, token_sha256, organization_id, key_id, user_id, issuer_session, id_token, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, now() + ${LIFETIME}) RETURNING expires_at`,
    [
      id,
      sha256(token),
      organizationId,
      keyId,
      userId,
      issuerSession,
      idToken === undefined ? null : JSON.stringify(idToken),
    ],
  );
  return { id, token, expiresAt: rows[0]!.expires_at };
}

/**
 * The sign-in of a cookie, while it lasts. Notes that it was used; where that cannot be written, it is found all the
 * same.
 */
export async function findActiveSignIn(db: Db, token: string): Promise<ActiveSignIn | undefined> {
  const { rows } = await db.query<SignInRow>(
    `SELECT s.id, s.organization_id, o.name AS organization, s.key_id, k.name AS key_name, k.scopes, k.models, k.tokens_per_day, s.user_id, u.email,
       u.name AS user_name, u.role, u.groups, s.last_used_at < now() - ${TOUCH} AS is_stale
     ${ACTIVE} AND s.token_sha256 = $1`,
    [sha256(token)],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  if (row.is_stale) await db.query('UPDATE sign_ins SET last_used_at = now() WHERE id = $1', [row.id]).catch(() => {});
  return { id: row.id, organizationId: row.organization_id, organization: row.organization, owner: readOwner(row) };
}

/**
 * The scopes that were given to those of these keys and sign-ins that still work, and to people with an access token, by
 * id. Of a person they are the role's.
 */
export async function findCredentialScopes(
  db: Queryable,
  ids: readonly string[],
): Promise<Map<string, readonly Scope[]>> {
  const { rows } = await db.query<{ id: string; scopes: Scope[] | null; role: Role | null }>(
    `SELECT k.id, k.scopes, NULL AS role FROM api_keys k WHERE k.id = ANY($1::text[]) AND ${IS_ACTIVE}
     UNION ALL SELECT s.id, k.scopes, u.role ${ACTIVE} AND s.id = ANY($1::text[])
     UNION ALL SELECT id, NULL, role FROM users WHERE id = ANY($1::text[])`,
    [ids],
  );
  return new Map(rows.map(({ id, scopes, role }) => [id, role === null ? (scopes ?? []) : ROLE_SCOPES[role]]));
}

/** Whom an identity provider signs out: one of its sessions, or a person everywhere. */
export type IssuerLogout = { issuer: string } & ({ externalId: string } | { issuerSession: string });

export async function deleteIssuerSignIns(db: Queryable, logout: IssuerLogout): Promise<void> {
  const [column, value] =
    'externalId' in logout ? ['u.external_id', logout.externalId] : ['s.issuer_session', logout.issuerSession];
  await db.query(`DELETE FROM sign_ins s USING users u WHERE u.id = s.user_id AND u.issuer = $1 AND ${column} = $2`, [
    logout.issuer,
    value,
  ]);
}

/** The revoked sign-in, or undefined if it does not exist. */
export type EndedSignIn = { id: string; userId: string | null; idToken: unknown };

export async function deleteSignIn(
  db: Queryable,
  by: { id: string } | { token: string },
): Promise<EndedSignIn | undefined> {
  const [column, value] = 'id' in by ? ['id', by.id] : ['token_sha256', sha256(by.token)];
  const { rows } = await db.query<{ id: string; user_id: string | null; id_token: unknown }>(
    `DELETE FROM sign_ins WHERE ${column} = $1 RETURNING id, user_id, id_token`,
    [value],
  );
  const [row] = rows;
  return row && { id: row.id, userId: row.user_id, idToken: row.id_token };
}
