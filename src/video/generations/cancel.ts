import { sendRenderEnded } from '../channels.ts';
import type { StoredGeneration } from '../store/generations.ts';
import type { VideoPorts } from '../deps.ts';
import { endWithFailure } from './end-generation.ts';

/** Cancels a generation, refunds its credits and stops its render. Undefined if it had already ended. */
export async function cancelGeneration(
  { db, bus, queue }: Pick<VideoPorts, 'db' | 'bus' | 'queue'>,
  { id, jobId }: Pick<StoredGeneration, 'id' | 'jobId'>,
): Promise<StoredGeneration | undefined> {
  const cancelled = await db.transaction(async (tx) => {
    const failure = { code: 'cancelled', message: 'The caller cancelled the generation.' } as const;
    const failed = await endWithFailure(tx, queue, { id }, failure);
    if (failed !== undefined) await queue.cancelRender(tx, jobId);
    return failed;
  });
  if (cancelled !== undefined) sendRenderEnded(bus, id);
  return cancelled;
}
