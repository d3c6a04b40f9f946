import type { Queryable } from '../db/db.ts';
import type { Role } from '../contract/roles.ts';
import type { SignedInUser } from '../contract/sign-ins.ts';
import { newId } from '../ids.ts';

/** A person as an identity provider describes them. `externalId` is the claim `sub`. */
export type Person = {
  organizationId: string;
  issuer: string;
  externalId: string;
  email: string | null;
  name: string | null;
  role: Role;
  groups: string[];
};

type UserRow = { id: string; email: string | null; name: string | null; role: Role; groups: string[] };

const COLUMNS = 'id, email, name, role, groups';

function readUser({ id, email, name, role, groups }: UserRow): SignedInUser {
  return { id, email, name, role, groups };
}

/** Writes what the identity provider says now, and tells the person's row. */
export async function upsertUser(db: Queryable, person: Person): Promise<SignedInUser> {
  const { rows } = await db.query<UserRow>(
    `INSERT INTO users (id, organization_id, issuer, external_id, email, name, role, groups)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text[])
     ON CONFLICT (organization_id, issuer, external_id) DO UPDATE SET
       email = excluded.email, name = excluded.name, role = excluded.role, groups = excluded.groups,
       last_sign_in_at = now()
     RETURNING ${COLUMNS}`,
    [
      newId('usr'),
      person.organizationId,
      person.issuer,
      person.externalId,
      person.email,
      person.name,
      person.role,
      person.groups,
    ],
  );
  return readUser(rows[0]!);
}

export async function findUser(
  db: Queryable,
  { organizationId, issuer, externalId }: Pick<Person, 'organizationId' | 'issuer' | 'externalId'>,
): Promise<SignedInUser | undefined> {
  const { rows } = await db.query<UserRow>(
    `SELECT ${COLUMNS} FROM users WHERE organization_id = $1 AND issuer = $2 AND external_id = $3`,
    [organizationId, issuer, externalId],
  );
  return rows[0] && readUser(rows[0]);
}
