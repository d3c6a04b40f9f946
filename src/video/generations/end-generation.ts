import type { Queryable } from '../../platform/db/db.ts';
import { endReservation } from '../store/credits.ts';
import { failGeneration } from '../store/generations.ts';
import type { StoredGeneration } from '../store/generations.ts';
import type { VideoQueue } from '../jobs/queue.ts';

export type Failure = {
  code: 'moderation' | 'timeout' | 'engine_error' | 'invalid_input' | 'cancelled';
  /** one sentence fit for callers */
  message: string;
};

/** Queues the caller's webhook, in the transaction that ends the generation. */
export async function addEndWebhook(tx: Queryable, queue: VideoQueue, generation: StoredGeneration): Promise<void> {
  const { webhookUrl: url, organizationId, id, state } = generation;
  if (url === null) return;
  await queue.addWebhook(tx, { url, organizationId, generationId: id, event: `generation.${state}` });
}

/**
 * Fails a generation and refunds its credits, in one transaction. Undefined if it had already ended or, with `attempt`, if
 * another attempt has taken over.
 */
export async function endWithFailure(
  tx: Queryable,
  queue: VideoQueue,
  { id, attempt }: { id: string; attempt?: number },
  failure: Failure,
): Promise<StoredGeneration | undefined> {
  const failed = await failGeneration(tx, id, `${failure.code}: ${failure.message}`, attempt);
  if (failed === undefined) return undefined;
  await endReservation(tx, 'refund', failed);
  await addEndWebhook(tx, queue, failed);
  return failed;
}
