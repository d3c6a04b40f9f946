import { deleteOldUploads } from '../store/references.ts';
import { expireResults, listOverdue } from '../store/generations.ts';
import { sendRenderEnded } from '../channels.ts';
import { endWithFailure } from '../generations/end-generation.ts';
import { resultPrefix } from './run.ts';
import type { VideoWorkerPorts } from './ports.ts';

/** After this time in the queue a generation fails. */
const QUEUE_HOURS = 24;

/** Ends overdue generations, whatever happened to their jobs and workers. */
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

/** Deletes results past their retention and unused uploads. Rows are deleted before objects. */
export async function sweepObjects({ db, objects, settings }: VideoWorkerPorts): Promise<void> {
  for (const { id } of await expireResults(db, settings.retentionDays)) {
    for await (const { key } of objects.list(resultPrefix(id))) await objects.delete(key);
  }
  for (const upload of await deleteOldUploads(db, settings.retentionDays)) {
    for await (const { key } of objects.list(upload)) await objects.delete(key);
  }
}
