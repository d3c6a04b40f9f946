// Tests: test/video/renders.test.ts
import { sha256 } from '../../platform/crypto.ts';
import { recordDailyRead } from '../../platform/store/secret-reads.ts';
import { buildWebhookHeaders } from '../../platform/webhook-signature.ts';
import { findGeneration } from '../store/generations.ts';
import type { VideoPorts } from '../deps.ts';
import { buildGenerations } from '../generations/generation-record.ts';
import type { WebhookJob } from '../jobs/queue.ts';
import { ensureWebhookSecret } from './secret.ts';

const TIMEOUT_MS = 15_000;
/** Maximum size of the response, which is discarded. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Calls a webhook once. The id is the same for all retries, so that a receiver can drop duplicates. Throws if the
 * receiver does not accept it.
 */
export async function deliverWebhook(
  ports: Pick<VideoPorts, 'db' | 'objects' | 'egress' | 'masterKeys'>,
  base: string,
  { id, data }: WebhookJob,
): Promise<void> {
  const generation = await findGeneration(ports.db, data.organizationId, data.generationId);
  if (generation === undefined) return;
  const [described] = await buildGenerations(ports, base, [generation]);
  const secret = await ensureWebhookSecret(ports, data.organizationId);
  const changes = { product: 'video', server: new URL(data.url).origin };
  await recordDailyRead(
    ports.db,
    data.organizationId,
    { type: 'webhook', id: data.organizationId, changes },
    sha256(secret),
  );
  const timestamp = Math.floor(Date.now() / 1000);
  const body = JSON.stringify({
    type: data.event,
    timestamp: new Date(timestamp * 1000).toISOString(),
    data: described,
  });
  const response = await ports.egress.fetch(data.url, {
    method: 'POST',
    redirect: 'error',
    headers: buildWebhookHeaders([secret], { id, timestamp, body }),
    body,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_ANSWER_BYTES,
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The webhook answered ${response.status}.`);
}
