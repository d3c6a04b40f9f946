import { describe, expect, it, vi } from 'vitest';
import { JobRunner } from '../../../src/platform/jobs/job-runner.ts';

type Job = { id: string; end: PromiseWithResolvers<void> };

function buildJob(id: string): Job {
  return { id, end: Promise.withResolvers<void>() };
}

/** A runner of two concurrent jobs over `queue`. A job ends when the test ends it, or when it is aborted. */
function setUp(queue: Job[]) {
  const started: string[] = [];
  const reasons: unknown[] = [];
  const onFetchError = vi.fn<(error: unknown) => void>();
  const fetch = vi.fn(async (free: number) => queue.splice(0, free));
  const runner = new JobRunner<Job>({
    capacity: 2,
    keyOf: ({ id }) => id,
    fetch,
    onFetchError,
    async run(job, signal) {
      started.push(job.id);
      signal.addEventListener('abort', () => {
        reasons.push(signal.reason);
        job.end.resolve();
      });
      await job.end.promise;
    },
  });
  return { runner, started, reasons, fetch, onFetchError };
}

describe('JobRunner', () => {
  it('fetches as many jobs as it has room for, and more when one ends', async () => {
    const jobs = ['a', 'b', 'c'].map(buildJob);
    const { runner, started } = setUp([...jobs]);
    runner.fetch();
    await expect.poll(() => started).toEqual(['a', 'b']);
    jobs[0]?.end.resolve();
    await expect.poll(() => started).toEqual(['a', 'b', 'c']);
    expect(runner.jobs().map(({ id }) => id)).toEqual(['b', 'c']);
  });

  it('fetches again when asked during a fetch', async () => {
    const queue: Job[] = [];
    const { runner, started } = setUp(queue);
    runner.fetch();
    queue.push(buildJob('late'));
    runner.fetch();
    await expect.poll(() => started).toEqual(['late']);
  });

  it('continues after a failed fetch', async () => {
    const { runner, fetch, started, onFetchError } = setUp([buildJob('a')]);
    fetch.mockRejectedValueOnce(new Error('away'));
    runner.fetch();
    await expect.poll(() => onFetchError.mock.calls).toEqual([[new Error('away')]]);
    runner.fetch();
    await expect.poll(() => started).toEqual(['a']);
  });

  it('aborts one job by its key, and not a later one with the same key', async () => {
    const [first, second] = [buildJob('a'), buildJob('a')];
    const { runner, reasons, started } = setUp([second]);
    runner.fetch();
    await expect.poll(() => started).toEqual(['a']);
    runner.abort('a', new Error('stale'), first);
    runner.abort('a', new Error('cancelled'), second);
    expect(reasons).toEqual([new Error('cancelled')]);
  });

  it('drains: waits for jobs that end in time, aborts the others, and fetches no more', async () => {
    const jobs = ['a', 'b'].map(buildJob);
    const queue = [...jobs];
    const { runner, started, reasons, fetch } = setUp(queue);
    runner.fetch();
    await expect.poll(() => started).toEqual(['a', 'b']);
    jobs[0]?.end.resolve();
    queue.push(buildJob('c'));
    await runner.drain(0, new Error('shutdown'));
    expect(reasons).toContainEqual(new Error('shutdown'));
    const calls = fetch.mock.calls.length;
    runner.fetch();
    expect([fetch.mock.calls.length, runner.jobs()]).toEqual([calls, []]);
  });
});
