// Tests: test/flow/webhooks.test.ts
import type { Db } from '../../platform/db/db.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { buildWebhookHeaders } from '../../platform/webhook-signature.ts';
import { CapstanError, errorText } from '../../platform/errors.ts';
import { JobRunner } from '../../platform/jobs/job-runner.ts';
import { PollGate } from '../../platform/jobs/poll-gate.ts';
import { jitter, startPeriodicTasks } from '../../platform/jobs/periodic-tasks.ts';
import type { Logger } from '../../platform/log.ts';
import type { MasterKeys } from '../../platform/master-key.ts';
import {
  claimDeliveries,
  deleteOldDeliveries,
  disableDeadWebhooks,
  dropExcessDeliveries,
  markDelivered,
  markFailed,
  readDeliveryDueMs,
} from '../../platform/store/webhook-outbox.ts';
import type { DueDelivery } from '../../platform/store/webhook-outbox.ts';
import { recordDailyRead } from '../../platform/store/secret-reads.ts';
import { webhookContext } from '../../platform/store/webhooks.ts';
import { findEvent } from '../store/events.ts';

type WebhookPorts = { db: Db; egress: Egress; masterKeys: MasterKeys; log: Logger };

const CAPACITY = 32;
const POLL_MS = 500;
const TIMEOUT_MS = 15_000;
/** Longer than a delivery can take. */
const LEASE_SECONDS = 60;
/** Maximum size of the response, which is discarded. */
const MAX_ANSWER_BYTES = 64 * 1024;
const FIRST_RETRY_SECONDS = 5;
const MAX_RETRY_SECONDS = 6 * 3600;
const GIVE_UP_MS = 3 * 86_400_000;
const DEAD_DAYS = 5;
const KEPT_DAYS = 30;
const HOUR_MS = 3_600_000;
/** Pending deliveries of one webhook. The claims of all webhooks look through them. */
const MAX_PENDING = 10_000;
const DROP_MS = 10_000;
const DROP_BATCH = 1000;

class RefusedError extends CapstanError<'webhook_refused'> {
  readonly status: number;

  constructor(status: number) {
    super('webhook_refused', `The endpoint answered ${status}.`);
    this.status = status;
  }
}

/** The wait before the next try: doubles from five seconds to six hours; null once the delivery is three days old. */
export function decideRetry(attempts: number, ageMs: number): number | null {
  if (ageMs >= GIVE_UP_MS) return null;
  return Math.min(MAX_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2 ** (attempts - 1));
}

async function buildBody(db: Db, due: DueDelivery): Promise<string> {
  const { id, type, sessionId, agentId, subjectId, eventId } = due;
  const isFull = due.fullEvent && sessionId !== null && eventId !== null;
  const event = isFull ? await findEvent(db, sessionId, eventId) : undefined;
  const data = due.data ?? { sessionId, agentId, subjectId, eventId, ...(event === undefined ? {} : { event }) };
  return JSON.stringify({ type, id, timestamp: due.createdAt.toISOString(), data });
}

async function send({ db, egress, masterKeys }: WebhookPorts, due: DueDelivery): Promise<number> {
  const body = await buildBody(db, due);
  const read = { type: 'webhook', id: due.webhookId, changes: { server: new URL(due.url).origin } };
  await recordDailyRead(db, due.organizationId, read, due.secret.sealed);
  const sealed = [due.secret, ...(due.previousSecret === null ? [] : [due.previousSecret])];
  const secrets = sealed.map((secret) => masterKeys.unseal(secret, webhookContext(due.webhookId)));
  const timestamp = Math.floor(Date.now() / 1000);
  const response = await egress.fetch(due.url, {
    method: 'POST',
    redirect: 'error',
    headers: buildWebhookHeaders(secrets, { id: due.id, timestamp, body }),
    body,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
  });
  await response.body?.cancel();
  if (!response.ok) throw new RefusedError(response.status);
  return response.status;
}

async function deliver(ports: WebhookPorts, due: DueDelivery): Promise<void> {
  const { db, log } = ports;
  try {
    const status = await send(ports, due);
    await db.transaction((tx) => markDelivered(tx, due, status));
  } catch (error) {
    const seconds = decideRetry(due.attempts, Date.now() - due.createdAt.getTime());
    const failure = {
      status: error instanceof RefusedError ? error.status : null,
      error: errorText(error),
      retryInSeconds: seconds === null ? null : jitter(seconds),
    };
    log.info({ webhookId: due.webhookId, deliveryId: due.id, error: failure.error }, 'webhook delivery failed');
    await db
      .transaction((tx) => markFailed(tx, due, failure))
      .catch((cause: unknown) => {
        log.warn({ error: errorText(cause) }, 'failure of a webhook not stored; its lease will expire');
      });
  }
}

/** Sends what the outbox holds, until it is closed. Any number of replicas may run it. */
export function startWebhooks(ports: WebhookPorts): { close(): Promise<void> } {
  const { db, log } = ports;
  const gate = new PollGate({ revision: db.revision, readDueMs: () => readDeliveryDueMs(db) });
  const onFetchError = (error: unknown) => {
    gate.reset();
    log.debug({ error: errorText(error) }, 'webhook deliveries not read');
  };
  const runner = new JobRunner<DueDelivery>({
    capacity: CAPACITY,
    keyOf: (due) => due.id,
    fetch: (free) => claimDeliveries(db, free, LEASE_SECONDS),
    run: (due) => deliver(ports, due),
    onFetchError,
  });
  const tasks = startPeriodicTasks(
    [
      { name: 'fetch webhook deliveries', periodMs: POLL_MS, immediately: true, gate, run: () => runner.fetch() },
      {
        name: 'switch off dead webhooks',
        periodMs: HOUR_MS,
        run: async () => void (await disableDeadWebhooks(db, DEAD_DAYS)),
      },
      {
        name: 'drop webhook deliveries beyond the bound',
        periodMs: DROP_MS,
        run: async () => (await dropExcessDeliveries(db, MAX_PENDING, DROP_BATCH)) > 0,
      },
      {
        name: 'delete old webhook deliveries',
        periodMs: HOUR_MS,
        run: async () => void (await deleteOldDeliveries(db, KEPT_DAYS)),
      },
    ],
    log,
  );
  return {
    async close() {
      await runner.drain(TIMEOUT_MS, new Error('The worker shuts down.'));
      await tasks.close();
    },
  };
}
