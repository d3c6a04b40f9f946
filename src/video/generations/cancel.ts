import { sendRenderEnded } from '../channels.ts';
import type { StoredGeneration } from '../store/generations.ts';
import type { VideoPorts } from '../deps.ts';
import { endWithFailure } from './end-generation.ts';

/** Ends a generation that has not ended, gives its credits back and stops its render. Undefined when it has ended. */
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
