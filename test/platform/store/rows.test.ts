import { expect, test } from 'vitest';
import { readRow } from '../../../src/platform/store/rows.ts';
import type { RowOf } from '../../../src/platform/store/rows.ts';

type Job = { id: string; agentVersionId: string | null; lastRunAt: Date; settings: { max_size: number } };

test('columns become fields and values stay as they are', () => {
  const lastRunAt = new Date(0);
  const row: RowOf<Job> = { id: 'job_1', agent_version_id: null, last_run_at: lastRunAt, settings: { max_size: 1 } };
  const job: Job = readRow<Job>(row);
  expect(job).toEqual({ id: 'job_1', agentVersionId: null, lastRunAt, settings: { max_size: 1 } });
});
