import { deleteOldUploads } from '../store/references.ts';
import { expireResults, listOverdue } from '../store/generations.ts';
import { sendRenderEnded } from '../channels.ts';
import { endWithFailure } from '../generations/end-generation.ts';
import { resultPrefix } from './run.ts';
import type { VideoWorkerPorts } from './ports.ts';

/** A generation that nothing has begun with for so long is given up. */
const QUEUE_HOURS = 24;

/** Ends what should have ended long ago, whatever became of its job and of whoever rendered it. */
export async function endOverdue({ db, bus, queue }: VideoWorkerPorts): Promise<void> {
  for (const id of await listOverdue(db, QUEUE_HOURS)) {
    await db.transaction(async (tx) => {
      const failure = { code: 'timeout', message: 'The render did not come to an end in time.' } as const;
      const failed = await endWithFailure(tx, queue, { id }, failure);
      if (failed !== undefined) await queue.cancelRender(tx, failed.jobId);
    });
    sendRenderEnded(bus, id);
  }
}

/** Deletes results that are older than they are kept, and uploads that nobody has used. The rows go first. */
export async function sweepObjects({ db, objects, settings }: VideoWorkerPorts): Promise<void> {
  for (const { id } of await expireResults(db, settings.retentionDays)) {
    for await (const { key } of objects.list(resultPrefix(id))) await objects.delete(key);
  }
  for (const upload of await deleteOldUploads(db, settings.retentionDays)) {
    for await (const { key } of objects.list(upload)) await objects.delete(key);
  }
}
