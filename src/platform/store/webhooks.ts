import type { Queryable } from '../db/db.ts';
import type { Webhook, WebhookDelivery, WebhookPatch } from '../contract/webhooks.ts';
import { newId } from '../ids.ts';
import type { Sealed } from '../master-key.ts';
import { readPage } from './pages.ts';
import type { SealedTable } from './rewrap.ts';
import type { Keyset, PageOf, PageRequest } from './pages.ts';

type WebhookRow = {
  id: string;
  url: string;
  events: string[];
  description: string | null;
  full_event: boolean;
  enabled: boolean;
  disabled_reason: string | null;
  failing_since: Date | null;
  dropped_deliveries: number;
  created_at: Date;
  updated_at: Date;
};

type DeliveryRow = {
  id: string;
  webhook_id: string;
  type: string;
  session_id: string | null;
  event_id: string | null;
  state: WebhookDelivery['state'];
  attempts: number;
  next_attempt_at: Date;
  last_status: number | null;
  last_error: string | null;
  created_at: Date;
  delivered_at: Date | null;
};

const COLUMNS = `w.id, w.url, w.events, w.description, w.full_event, w.enabled, w.disabled_reason, w.failing_since,
  w.dropped_deliveries, w.created_at, w.updated_at`;
const DELIVERY = `d.id, d.webhook_id, d.type, d.session_id, d.event_id, d.state, d.attempts, d.next_attempt_at,
  d.last_status, d.last_error, d.created_at, d.delivered_at`;
const KEYSET: Keyset = { name: 'webhooks', keys: [{ sql: 'w.id', type: 'text' }], direction: 'DESC' };
const DELIVERIES: Keyset = { name: 'deliveries', keys: [{ sql: 'd.position', type: 'bigint' }], direction: 'DESC' };
const OVERLAP = `interval '24 hours'`;

function readWebhook(row: WebhookRow): Webhook {
  return {
    object: 'webhook',
    id: row.id,
    url: row.url,
    // The database holds what validation let through.
    events: row.events[0] === '*' ? '*' : (row.events as Exclude<Webhook['events'], '*'>),
    description: row.description,
    fullEvent: row.full_event,
    enabled: row.enabled,
    disabledReason: row.disabled_reason,
    failingSince: row.failing_since?.toISOString() ?? null,
    droppedDeliveries: row.dropped_deliveries,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

function readDelivery(row: DeliveryRow): WebhookDelivery {
  return {
    object: 'webhook_delivery',
    id: row.id,
    webhookId: row.webhook_id,
    type: row.type,
    sessionId: row.session_id,
    eventId: row.event_id,
    state: row.state,
    attempts: row.attempts,
    nextAttemptAt: row.state === 'pending' ? row.next_attempt_at.toISOString() : null,
    lastStatus: row.last_status,
    lastError: row.last_error,
    createdAt: row.created_at.toISOString(),
    deliveredAt: row.delivered_at?.toISOString() ?? null,
  };
}

function listNames(events: Webhook['events']): string[] {
  return events === '*' ? ['*'] : [...new Set(events)];
}

/** What a webhook's secret is sealed for. */
export function webhookContext(id: string): string {
  return `webhook/${id}`;
}

/** The secrets that sign. One that a rotation has replaced stays as it is: it ends within a day. */
export const SEALED_WEBHOOKS: SealedTable = {
  contextOf: webhookContext,
  list: `SELECT id, secret->>'sealed' AS sealed, secret->>'dataKey' AS data_key, secret->>'masterKeyId' AS master_key_id
    FROM webhooks WHERE secret->>'masterKeyId' <> $1 AND id > $2 ORDER BY id LIMIT $3`,
  save: `UPDATE webhooks SET secret = secret || jsonb_build_object('dataKey', $3::text, 'masterKeyId', $4::text)
    WHERE id = $1 AND secret->>'dataKey' = $2`,
};

export async function insertWebhook(
  db: Queryable,
  organizationId: string,
  webhook: { id: string; secret: Sealed } & Pick<Webhook, 'url' | 'events' | 'description' | 'fullEvent' | 'enabled'>,
): Promise<Webhook> {
  const { rows } = await db.query<WebhookRow>(
    `INSERT INTO webhooks AS w (id, organization_id, url, events, description, full_event, enabled, secret)
     VALUES ($1, $2, $3, $4::text[], $5, $6, $7, $8::jsonb) RETURNING ${COLUMNS}`,
    [
      webhook.id,
      organizationId,
      webhook.url,
      listNames(webhook.events),
      webhook.description,
      webhook.fullEvent,
      webhook.enabled,
      JSON.stringify(webhook.secret),
    ],
  );
  return readWebhook(rows[0]!);
}

/** Newest first. */
export async function listWebhooks(db: Queryable, organizationId: string, page: PageRequest): Promise<PageOf<Webhook>> {
  const from = 'FROM webhooks w WHERE w.organization_id = $1';
  const statement = { columns: COLUMNS, from, params: [organizationId], keyset: KEYSET, counted: false };
  const found = await readPage<WebhookRow>(db, statement, page);
  return { ...found, rows: found.rows.map(readWebhook) };
}

export async function findWebhook(db: Queryable, organizationId: string, id: string): Promise<Webhook | undefined> {
  const { rows } = await db.query<WebhookRow>(
    `SELECT ${COLUMNS} FROM webhooks w WHERE w.id = $1 AND w.organization_id = $2`,
    [id, organizationId],
  );
  return rows[0] && readWebhook(rows[0]);
}

/** Enabling resets earlier failures; disabling drops pending deliveries. */
export async function updateWebhook(
  tx: Queryable,
  organizationId: string,
  id: string,
  change: WebhookPatch,
): Promise<Webhook | undefined> {
  const { rows } = await tx.query<WebhookRow>(
    `UPDATE webhooks AS w SET url = coalesce($3, url), events = coalesce($4::text[], events),
       description = CASE WHEN $5::boolean THEN $6 ELSE description END, full_event = coalesce($7, full_event),
       enabled = coalesce($8, enabled), disabled_reason = CASE WHEN $8::boolean THEN NULL ELSE disabled_reason END,
       failing_since = CASE WHEN $8::boolean THEN NULL ELSE failing_since END,
       dropped_deliveries = CASE WHEN $8::boolean THEN 0 ELSE dropped_deliveries END, updated_at = now()
     WHERE id = $1 AND organization_id = $2 RETURNING ${COLUMNS}`,
    [
      id,
      organizationId,
      change.url ?? null,
      change.events === undefined ? null : listNames(change.events),
      change.description !== undefined,
      change.description ?? null,
      change.fullEvent ?? null,
      change.enabled ?? null,
    ],
  );
  if (change.enabled === false && rows.length > 0) await cancelDeliveries(tx, id);
  return rows[0] && readWebhook(rows[0]);
}

async function cancelDeliveries(tx: Queryable, webhookId: string): Promise<void> {
  await tx.query(
    `UPDATE webhook_deliveries SET state = 'failed', last_error = coalesce(last_error, 'The webhook is switched off.')
     WHERE webhook_id = $1 AND state = 'pending'`,
    [webhookId],
  );
}

export async function deleteWebhook(db: Queryable, organizationId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query('DELETE FROM webhooks WHERE id = $1 AND organization_id = $2', [
    id,
    organizationId,
  ]);
  return rowCount > 0;
}

/** The old secret signs too, for 24 hours. */
export async function rotateSecret(
  db: Queryable,
  organizationId: string,
  id: string,
  secret: Sealed,
): Promise<Webhook | undefined> {
  const { rows } = await db.query<WebhookRow>(
    `UPDATE webhooks AS w SET previous_secret = secret, previous_expires_at = now() + ${OVERLAP}, secret = $3::jsonb,
       updated_at = now()
     WHERE id = $1 AND organization_id = $2 RETURNING ${COLUMNS}`,
    [id, organizationId, JSON.stringify(secret)],
  );
  return rows[0] && readWebhook(rows[0]);
}

/** Puts a delivery that belongs to no event into the outbox. */
export async function addDelivery(
  db: Queryable,
  organizationId: string,
  webhookId: string,
  type: string,
): Promise<WebhookDelivery> {
  const { rows } = await db.query<DeliveryRow>(
    `INSERT INTO webhook_deliveries AS d (id, webhook_id, organization_id, type) VALUES ($1, $2, $3, $4)
     RETURNING ${DELIVERY}`,
    [newId('msg'), webhookId, organizationId, type],
  );
  return readDelivery(rows[0]!);
}

/** Newest first. */
export async function listDeliveries(
  db: Queryable,
  webhookId: string,
  { state, ...page }: PageRequest & { state?: WebhookDelivery['state'] | undefined },
): Promise<PageOf<WebhookDelivery>> {
  const from = 'FROM webhook_deliveries d WHERE d.webhook_id = $1 AND ($2::text IS NULL OR d.state = $2)';
  const params = [webhookId, state ?? null];
  const statement = { columns: DELIVERY, from, params, keyset: DELIVERIES, counted: false };
  const found = await readPage<DeliveryRow>(db, statement, page);
  return { ...found, rows: found.rows.map(readDelivery) };
}

/** Sends a delivery again from its first try. Undefined when the webhook has no such delivery. */
export async function redeliver(db: Queryable, webhookId: string, id: string): Promise<WebhookDelivery | undefined> {
  const { rows } = await db.query<DeliveryRow>(
    `UPDATE webhook_deliveries AS d SET state = 'pending', attempts = 0, next_attempt_at = now(), locked_until = NULL,
       created_at = now(), delivered_at = NULL
     WHERE id = $1 AND webhook_id = $2 RETURNING ${DELIVERY}`,
    [id, webhookId],
  );
  return rows[0] && readDelivery(rows[0]);
}
