// Tests: test/gateway/providers.test.ts
import type { ProviderConfig } from '../../inference/config.ts';
import type { Queryable } from '../../platform/db/db.ts';
import type { Sealed } from '../../platform/master-key.ts';
import { encodeJson } from '../../platform/store/json.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { Keyset, PageOf, PageRequest } from '../../platform/store/pages.ts';
import type { SealedTable } from '../../platform/store/rewrap.ts';
import type { Provider, ProviderProbe } from '../contract/providers.ts';

/** A provider's configuration without its credentials. */
export type ProviderSettings = Omit<ProviderConfig, 'apiKey' | 'apiKeyEnv' | 'apiKeyEnvs' | 'apiKeys'> & {
  /** what the sealed secret is; absent: an API key */
  secretKind?: 'aws' | 'google';
};

/** A provider for processes that call it. */
export type StoredProvider = {
  id: string;
  organizationId: string;
  name: string;
  settings: ProviderSettings;
  secret: Sealed | null;
};

export type ProviderRef = { organizationId: string; id: string };

type ProviderRow = {
  id: string;
  name: string;
  settings: ProviderSettings;
  has_key: boolean;
  probe: ProviderProbe | null;
  created_at: Date;
  updated_at: Date;
};

const COLUMNS = `p.id, p.name, p.settings, p.secret IS NOT NULL AS has_key, p.probe, p.created_at, p.updated_at`;
const STORED = `p.id, p.organization_id AS "organizationId", p.name, p.settings, p.secret`;
const KEYSET: Keyset = { name: 'providers', keys: [{ sql: 'p.id', type: 'text' }], direction: 'DESC' };
const OWN = 'p.organization_id = $1 AND p.id = $2';

function readProvider({ id, name, settings, ...row }: ProviderRow): Provider {
  const { format, baseUrl, apiKeyHeader, aws, google, models, timeoutSeconds, passThrough } = settings;
  return {
    object: 'provider',
    id,
    name,
    format,
    baseUrl,
    hasKey: row.has_key,
    apiKeyHeader: apiKeyHeader ?? null,
    aws: aws === undefined ? null : { region: aws.region },
    google: google === undefined ? null : { project: google.project, location: google.location },
    models: models ?? null,
    timeoutSeconds,
    passThrough: passThrough ?? null,
    probe: row.probe,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** The encryption context of a provider's key. */
export function providerContext(id: string): string {
  return `model-provider/${id}`;
}

export const SEALED_PROVIDERS: SealedTable = {
  contextOf: providerContext,
  list: `SELECT id, secret->>'sealed' AS sealed, secret->>'dataKey' AS data_key, secret->>'masterKeyId' AS master_key_id
    FROM model_providers WHERE secret->>'masterKeyId' <> $1 AND id > $2 ORDER BY id LIMIT $3`,
  save: `UPDATE model_providers
    SET secret = secret || jsonb_build_object('dataKey', $3::text, 'masterKeyId', $4::text)
    WHERE id = $1 AND secret->>'dataKey' = $2`,
};

/** Undefined if the organization already has a provider with this name. */
export async function insertProvider(
  db: Queryable,
  { id, organizationId, name, settings, secret }: StoredProvider,
  probe: ProviderProbe | null,
): Promise<Provider | undefined> {
  const { rows } = await db.query<ProviderRow>(
    `INSERT INTO model_providers AS p (id, organization_id, name, settings, secret, probe)
     VALUES ($1, $2, $3, $4::jsonb, $5::jsonb, $6::jsonb)
     ON CONFLICT (organization_id, name) DO NOTHING RETURNING ${COLUMNS}`,
    [
      id,
      organizationId,
      name,
      encodeJson(settings),
      secret === null ? null : encodeJson(secret),
      probe === null ? null : encodeJson(probe),
    ],
  );
  return rows[0] && readProvider(rows[0]);
}

/** Undefined if there is none. `null` leaves a field unchanged. */
export async function updateProvider(
  db: Queryable,
  { organizationId, id }: ProviderRef,
  change: { settings: ProviderSettings | null; secret: Sealed | null; probe: ProviderProbe | null },
): Promise<Provider | undefined> {
  const encode = (value: object | null) => (value === null ? null : encodeJson(value));
  const { rows } = await db.query<ProviderRow>(
    `UPDATE model_providers AS p SET settings = coalesce($3::jsonb, p.settings), secret = coalesce($4::jsonb, p.secret),
       probe = coalesce($5::jsonb, p.probe), updated_at = clock_timestamp()
     WHERE ${OWN} RETURNING ${COLUMNS}`,
    [organizationId, id, encode(change.settings), encode(change.secret), encode(change.probe)],
  );
  return rows[0] && readProvider(rows[0]);
}

export async function findProvider(db: Queryable, ref: ProviderRef): Promise<Provider | undefined> {
  const { rows } = await db.query<ProviderRow>(`SELECT ${COLUMNS} FROM model_providers p WHERE ${OWN}`, [
    ref.organizationId,
    ref.id,
  ]);
  return rows[0] && readProvider(rows[0]);
}

export async function findStoredProvider(db: Queryable, ref: ProviderRef): Promise<StoredProvider | undefined> {
  const { rows } = await db.query<StoredProvider>(`SELECT ${STORED} FROM model_providers p WHERE ${OWN}`, [
    ref.organizationId,
    ref.id,
  ]);
  return rows[0];
}

/** Newest first. */
export async function listProviders(
  db: Queryable,
  organizationId: string,
  page: PageRequest,
): Promise<PageOf<Provider>> {
  const from = 'FROM model_providers p WHERE p.organization_id = $1';
  const statement = { columns: COLUMNS, from, params: [organizationId], keyset: KEYSET, counted: false };
  const found = await readPage<ProviderRow>(db, statement, page);
  return { ...found, rows: found.rows.map(readProvider) };
}

export async function deleteProvider(db: Queryable, { organizationId, id }: ProviderRef): Promise<boolean> {
  const { rowCount } = await db.query(`DELETE FROM model_providers p WHERE ${OWN}`, [organizationId, id]);
  return rowCount > 0;
}

/** The revision of every provider of every organization. */
export async function listProviderRevisions(db: Queryable): Promise<{ id: string; revision: string }[]> {
  const { rows } = await db.query<{ id: string; revision: string }>(
    'SELECT id, (extract(epoch FROM updated_at) * 1000000)::bigint::text AS revision FROM model_providers',
  );
  return rows;
}

/** Providers of any organization. */
export async function readStoredProviders(db: Queryable, ids: readonly string[]): Promise<StoredProvider[]> {
  const { rows } = await db.query<StoredProvider>(`SELECT ${STORED} FROM model_providers p WHERE p.id = ANY($1)`, [
    ids,
  ]);
  return rows;
}
