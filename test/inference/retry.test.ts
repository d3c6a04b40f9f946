import { describe, expect, it } from 'vitest';
import { collectReply } from '../../src/inference/collect.ts';
import { ModelError } from '../../src/inference/model.ts';
import type { ModelDelta } from '../../src/inference/model.ts';
import { DEFAULT_RETRY, decideWait, streamWithRetries } from '../../src/inference/retry.ts';
import { buildRetryBudget } from '../../src/inference/retry-budget.ts';
import type { Candidate } from '../../src/inference/retry.ts';

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
const START: ModelDelta = { type: 'start', id: 'r', model: 'a/b' };
const TEXT: ModelDelta = { type: 'text', index: 0, text: 'Hi' };
const FINISH: ModelDelta = { type: 'finish', reason: 'stop', usage };

const overload = () => new ModelError('unavailable', 'busy');

/** An upstream whose successive tries produce these deltas, then an error if the last item is one. */
function candidate(name: string, tries: (ModelDelta | Error)[][]): Candidate & { calls: number } {
  const self = {
    name,
    calls: 0,
    async *stream() {
      const steps = tries[Math.min(self.calls, tries.length - 1)] ?? [];
      self.calls += 1;
      for (const step of steps) {
        if (step instanceof Error) throw step;
        yield step;
      }
    },
  };
  return self;
}

function run(candidates: Candidate[], signal = new AbortController().signal, onDelta?: (delta: ModelDelta) => void) {
  const waits: number[] = [];
  const policy = {
    ...DEFAULT_RETRY,
    random: () => 1,
    sleep: async (ms: number) => {
      waits.push(ms);
      signal.throwIfAborted();
    },
  };
  const reply = collectReply(
    streamWithRetries({ choose: () => candidates, policy, signal, watch: { failed: () => {} } }),
    onDelta,
  );
  return { reply, waits };
}

describe('retries', () => {
  it('back off and try again, and show one start only', async () => {
    const upstream = candidate('a', [[overload()], [START, overload()], [START, TEXT, FINISH]]);
    const seen: string[] = [];
    const { reply, waits } = run([upstream], undefined, (delta) => seen.push(delta.type));
    expect((await reply).content).toEqual([{ type: 'text', text: 'Hi' }]);
    expect(seen).toEqual(['start', 'text', 'finish']);
    expect(waits).toEqual([500, 1000]);
  });

  it('end after three tries of the only upstream', async () => {
    const upstream = candidate('a', [[overload()]]);
    await expect(run([upstream]).reply).rejects.toMatchObject({ code: 'unavailable' });
    expect(upstream.calls).toBe(3);
  });

  it('go on to the next upstream', async () => {
    const first = candidate('a', [[overload()]]);
    const second = candidate('b', [[START, TEXT, FINISH]]);
    expect((await run([first, second]).reply).finish).toBe('stop');
    expect([first.calls, second.calls]).toEqual([3, 1]);
  });

  it('do not happen once the answer has begun', async () => {
    const upstream = candidate('a', [[START, TEXT, new ModelError('upstream', 'cut')]]);
    const { reply } = run([upstream, candidate('b', [[START, TEXT, FINISH]])]);
    await expect(reply).rejects.toMatchObject({ code: 'upstream', message: 'cut' });
    expect(upstream.calls).toBe(1);
  });

  it('do not happen for permanent errors, nor does fallback', async () => {
    const first = candidate('a', [[new ModelError('invalid_request', 'bad')]]);
    const second = candidate('b', [[START, TEXT, FINISH]]);
    await expect(run([first, second]).reply).rejects.toMatchObject({ code: 'invalid_request' });
    expect([first.calls, second.calls]).toEqual([1, 0]);
  });

  it('do not happen after an abort, whose reason is thrown', async () => {
    const abort = new AbortController();
    const upstream = candidate('b', [[START, TEXT, FINISH]]);
    const waiting = {
      name: 'a',
      async *stream(): AsyncGenerator<ModelDelta> {
        abort.abort(new Error('stop'));
        yield START;
        throw overload();
      },
    };
    await expect(run([waiting, upstream], abort.signal).reply).rejects.toThrow('stop');
    expect(upstream.calls).toBe(0);
  });

  it('stop waiting at an abort', async () => {
    const abort = new AbortController();
    const policy = { ...DEFAULT_RETRY, baseMs: 1e9, maxMs: 1e9, random: () => 1 };
    const deltas = streamWithRetries({
      choose: () => [candidate('a', [[overload()]])],
      policy,
      signal: abort.signal,
      watch: { failed: () => void setImmediate(() => abort.abort(new Error('stop'))) },
    });
    await expect(collectReply(deltas)).rejects.toThrow('stop');
  });
});

describe('the budget of retries', () => {
  const build = (options: { now?: () => number; perSecond?: number } = {}) =>
    buildRetryBudget({ share: 0.2, perSecond: 0, reserve: 3, now: () => 0, ...options });

  it('holds a reserve, and one retry more for every five calls', () => {
    const budget = build();
    const take = () => budget.take('a');
    expect([take(), take(), take(), take()]).toEqual([true, true, true, false]);
    for (let call = 0; call < 5; call += 1) budget.add('a');
    expect([take(), take()]).toEqual([true, false]);
    expect(budget.take('b')).toBe(true);
  });

  it('grows with time, and never above its reserve', () => {
    let now = 0;
    const budget = build({ now: () => now, perSecond: 1 });
    for (let retry = 0; retry < 3; retry += 1) budget.take('a');
    now = 1000;
    expect([budget.take('a'), budget.take('a')]).toEqual([true, false]);
    now = 1_000_000;
    expect([1, 2, 3, 4].map(() => budget.take('a'))).toEqual([true, true, true, false]);
  });

  it('bounds the calls of a failing upstream, but not those of the fallback', async () => {
    const failing = candidate('a', [[overload()]]);
    const policy = { ...DEFAULT_RETRY, budget: build(), sleep: async () => {} };
    for (let call = 0; call < 20; call += 1) {
      const sound = candidate('b', [[START, TEXT, FINISH]]);
      const deltas = streamWithRetries({
        choose: () => [failing, sound],
        policy,
        signal: new AbortController().signal,
        watch: { failed: () => {} },
      });
      expect((await collectReply(deltas)).finish).toBe('stop');
    }
    // Without a budget 60. Twenty calls, the reserve of three, one retry for every five calls; the first fifth found it full.
    expect(failing.calls).toBe(20 + 3 + 3);
  });
});

describe('the wait before a retry', () => {
  const asked = (retryAfterMs: number) => new ModelError('rate_limited', 'slow', { retryAfterMs });
  const half = { ...DEFAULT_RETRY, random: () => 0.5 };

  it('is at least the upstream’s retry-after', () => {
    expect(decideWait(asked(7000), 1, half)).toBe(7250);
  });

  it('is never longer than 30 seconds', () => {
    expect(decideWait(asked(30_000), 1, half)).toBe(30_000);
  });

  it('is not made for an upstream that asks for more', () => {
    expect(decideWait(asked(30_001), 1, half)).toBeUndefined();
  });

  it('grows twofold, and is random from zero on', () => {
    expect([1, 2].map((attempt) => decideWait(overload(), attempt, half))).toEqual([250, 500]);
    expect(decideWait(overload(), 2, { ...DEFAULT_RETRY, random: () => 0 })).toBe(0);
  });
});
