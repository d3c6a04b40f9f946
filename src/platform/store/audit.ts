import type { Queryable } from '../db/db.ts';
import { AuditEntry } from '../contract/audit.ts';
import type { AuditQuery, AuditRecord, AuditVerification } from '../contract/audit.ts';
import { sha256 } from '../crypto.ts';
import { encodeJson } from './json.ts';
import { readPage } from './pages.ts';
import type { PageOf } from './pages.ts';

const BATCH = 1000;
const HASH = (previous: string, sequence: string) =>
  `encode(sha256(convert_to(${previous} || '.' || ${sequence} || '.' || $7::text, 'UTF8')), 'hex')`;

/**
 * Appends a record to its organization's chain, in the transaction of the change. Holds the end of the chain until that
 * ends, so it comes last in it.
 */
export async function insertAudit(tx: Queryable, entry: AuditEntry): Promise<AuditRecord> {
  const text = encodeJson(entry);
  const { rows } = await tx.query<{ sequence: number; previous_hash: string; hash: string }>(
    `WITH head AS (
       INSERT INTO audit_heads AS h (organization_id, sequence, previous_hash, hash)
       VALUES ($1, 1, '', ${HASH("''", "'1'")})
       ON CONFLICT (organization_id) DO UPDATE SET sequence = h.sequence + 1, previous_hash = h.hash,
         hash = ${HASH('h.hash', '(h.sequence + 1)::text')}
       RETURNING sequence, previous_hash, hash)
     INSERT INTO audit_records (organization_id, sequence, id, time, actor_id, action, resource_type, resource_id, entry,
       previous_hash, hash)
     SELECT $1, sequence, $2, $3::timestamptz, $4, $5, $8::text, $6::text, $7::text, previous_hash, hash FROM head
     RETURNING sequence, previous_hash, hash`,
    [
      entry.organizationId,
      entry.id,
      entry.time,
      entry.actor.id,
      entry.action,
      entry.resource.id,
      text,
      entry.resource.type,
    ],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('An audit record was not written.');
  return buildRecord(entry, row);
}

type Link = { sequence: number; previous_hash: string; hash: string };

function buildRecord(entry: AuditEntry, { sequence, previous_hash: previousHash, hash }: Link): AuditRecord {
  const aliases = { at: entry.time, target: entry.resource, address: entry.actor.ip, details: entry.changes };
  return { object: 'audit_entry', ...entry, ...aliases, sequence, previousHash, hash };
}

/** Newest first. */
export async function listAudit(
  db: Queryable,
  organizationId: string,
  query: AuditQuery,
): Promise<PageOf<AuditRecord>> {
  const { actor = null, action = null, resource = null, from = null, to = null } = query;
  const found = await readPage<Link & { entry: string }>(
    db,
    {
      columns: 'sequence, entry, previous_hash, hash',
      from: `FROM audit_records WHERE organization_id = $1
        AND ($2::text IS NULL OR actor_id = $2) AND ($3::text IS NULL OR action = $3)
        AND ($4::text IS NULL OR resource_id = $4 OR resource_type = $4 OR resource_type || '/' || resource_id = $4)
        AND ($5::timestamptz IS NULL OR time >= $5) AND ($6::timestamptz IS NULL OR time < $6)`,
      params: [organizationId, actor, action, resource, from, to],
      keyset: { name: 'audit', keys: [{ sql: 'sequence', type: 'bigint' }], direction: 'DESC' },
      counted: false,
    },
    query,
  );
  return { ...found, rows: found.rows.map((row) => buildRecord(AuditEntry.parse(JSON.parse(row.entry)), row)) };
}

type StoredRow = Link & {
  id: string;
  time: Date;
  actor_id: string;
  action: string;
  resource_type: string | null;
  resource_id: string | null;
  entry: string;
};

/** Whether the columns for filters say what the hashed text says. */
function isConsistent(row: StoredRow): boolean {
  const parsed = AuditEntry.safeParse(JSON.parse(row.entry));
  if (!parsed.success) return false;
  const { id, time, actor, action, resource } = parsed.data;
  const stored = [row.id, row.time.toISOString(), row.actor_id, row.action, row.resource_type, row.resource_id];
  const hashed = [id, time, actor.id, action, resource.type, resource.id];
  return JSON.stringify(stored) === JSON.stringify(hashed);
}

function findFault(row: StoredRow, expected: { sequence: number; hash: string }) {
  if (row.sequence !== expected.sequence) return { sequence: expected.sequence, reason: 'missing' as const };
  if (row.previous_hash !== expected.hash) return { sequence: row.sequence, reason: 'unlinked' as const };
  const isWhole = row.hash === sha256(`${row.previous_hash}.${row.sequence}.${row.entry}`) && isConsistent(row);
  return isWhole ? undefined : { sequence: row.sequence, reason: 'altered' as const };
}

/** Recomputes the chain of an organization from its first record that is kept. */
export async function verifyAudit(db: Queryable, organizationId: string): Promise<AuditVerification> {
  const { rows: heads } = await db.query<{
    sequence: number;
    hash: string;
    first_sequence: number;
    first_previous_hash: string;
  }>('SELECT sequence, hash, first_sequence, first_previous_hash FROM audit_heads WHERE organization_id = $1', [
    organizationId,
  ]);
  const [head] = heads;
  const object = 'audit_verification';
  const nothing = { firstSequence: null, lastSequence: null, lastHash: null, brokenAt: null };
  if (head === undefined) return { object, ok: true, checked: 0, ...nothing };
  let expected = { sequence: head.first_sequence, hash: head.first_previous_hash };
  let brokenAt: AuditVerification['brokenAt'] = null;
  let checked = 0;
  // Records that are written meanwhile are behind the end that was read.
  while (brokenAt === null && expected.sequence <= head.sequence) {
    const { rows } = await db.query<StoredRow>(
      `SELECT * FROM audit_records WHERE organization_id = $1 AND sequence >= $2 AND sequence <= $3
       ORDER BY sequence LIMIT ${BATCH}`,
      [organizationId, expected.sequence, head.sequence],
    );
    if (rows.length === 0) brokenAt = { sequence: expected.sequence, reason: 'missing' };
    for (const row of rows) {
      brokenAt = findFault(row, expected) ?? null;
      if (brokenAt !== null) break;
      checked += 1;
      expected = { sequence: row.sequence + 1, hash: row.hash };
    }
  }
  if (brokenAt === null && expected.hash !== head.hash) brokenAt = { sequence: head.sequence, reason: 'unlinked' };
  const ends = { firstSequence: head.first_sequence, lastSequence: head.sequence, lastHash: head.hash };
  return { object, ok: brokenAt === null, checked, ...ends, brokenAt };
}

/** Deletes records older than so many days, of one organization at a time, and notes where its chain begins from then on. */
export async function deleteOldAudit(db: Queryable, days: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `WITH old AS (
       SELECT organization_id, max(sequence) AS sequence FROM audit_records
       WHERE time < now() - make_interval(secs => $1::double precision * 86400)
         AND organization_id = (SELECT organization_id FROM audit_records ORDER BY time LIMIT 1)
       GROUP BY organization_id),
     moved AS (
       UPDATE audit_heads h SET first_sequence = r.sequence + 1, first_previous_hash = r.hash
       FROM old JOIN audit_records r USING (organization_id, sequence) WHERE h.organization_id = old.organization_id
       RETURNING h.organization_id, r.sequence)
     DELETE FROM audit_records r USING moved
     WHERE r.organization_id = moved.organization_id AND r.sequence <= moved.sequence`,
    [days],
  );
  return rowCount > 0;
}
