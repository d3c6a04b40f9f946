import { describe, expect, it } from 'vitest';
import { runWithin, untilAborted, withTimeout } from '../../src/platform/abort.ts';

describe('untilAborted', () => {
  it('gives the result of work that ends in time', async () => {
    await expect(untilAborted(Promise.resolve(1), new AbortController().signal)).resolves.toBe(1);
  });

  it('throws the reason of the abort and passes on a late result', async () => {
    const abort = new AbortController();
    const work = Promise.withResolvers<number>();
    const late = Promise.withResolvers<number>();
    const waiting = untilAborted(work.promise, abort.signal, late.resolve);
    abort.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    work.resolve(2);
    expect(await late.promise).toBe(2);
  });

  it('throws at once when the signal has aborted before', async () => {
    await expect(untilAborted(new Promise(() => {}), AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
  });
});

it('withTimeout names the work that took too long', async () => {
  await expect(withTimeout(5, new Promise(() => {}), 'a ping')).rejects.toThrow('a ping took longer than 5 ms');
});

describe('runWithin', () => {
  const hang = (signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('work gave up')), { once: true });
    });

  it('throws the reason of the abort, not the error of the work', async () => {
    await expect(runWithin(5, undefined, hang)).rejects.toThrow('no answer within 5 ms');
    const parent = new AbortController();
    const running = runWithin(60_000, parent.signal, hang);
    parent.abort(new Error('parent stopped'));
    await expect(running).rejects.toThrow('parent stopped');
  });

  it('keeps the errors of the work itself', async () => {
    await expect(runWithin(60_000, undefined, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  });
});
