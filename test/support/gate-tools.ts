import { setImmediate as nextTick } from 'node:timers/promises';
import type { Parallelism, Tool } from '../../src/agents/tools/tool.ts';

/** Tools that end on the test's command, to hold a turn open without a clock. */
export type GateTools = {
  tools: Tool[];
  /** resolves when `hold` runs with this key */
  held(key: string): Promise<void>;
  /** lets it end */
  open(key: string): void;
  /** calls of `meet` and `track` that ran at once at most, by key */
  together: Map<string, number>;
};

/**
 * `hold {key}` waits for `open`; `meet {key}` waits until two of the key run at once; `track {key}` only counts, and
 * changes the path that the key is.
 */
export function buildGateTools(): GateTools {
  const arrivals = new Map<string, PromiseWithResolvers<void>>();
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const running = new Map<string, number>();
  const together = new Map<string, number>();
  const at = (map: typeof gates, key: string) => {
    const found = map.get(key) ?? Promise.withResolvers<void>();
    map.set(key, found);
    return found;
  };
  const enter = (key: string) => {
    running.set(key, (running.get(key) ?? 0) + 1);
    together.set(key, Math.max(together.get(key) ?? 0, running.get(key) ?? 0));
  };
  const untilOpen = async (key: string, signal: AbortSignal) => {
    const aborted = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => aborted.resolve(), { once: true });
    await Promise.race([at(gates, key).promise, aborted.promise]);
  };
  const build = (
    name: string,
    parallelism: (key: string) => Parallelism,
    run: (key: string, signal: AbortSignal) => Promise<void>,
  ): Tool => ({
    name,
    toolset: 'terminal',
    description: 'Waits.',
    parameters: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
    readOnly: true,
    parallelism: (input) => parallelism(String(input['key'])),
    async run(input, { signal }) {
      const key = String(input['key']);
      enter(key);
      try {
        await run(key, signal);
      } finally {
        running.set(key, (running.get(key) ?? 1) - 1);
      }
      return { content: `${name} ${key}`, isError: false };
    },
  });
  return {
    tools: [
      build(
        'hold',
        () => 'exclusive',
        async (key, signal) => {
          at(arrivals, key).resolve();
          await untilOpen(key, signal);
        },
      ),
      build(
        'meet',
        () => 'shared',
        async (key, signal) => {
          if (running.get(key) === 2) at(gates, key).resolve();
          await untilOpen(key, signal);
        },
      ),
      build(
        'track',
        (key) => ({ paths: [key] }),
        async () => {
          for (let turn = 0; turn < 5; turn += 1) await nextTick();
        },
      ),
    ],
    held: (key) => at(arrivals, key).promise,
    open: (key) => at(gates, key).resolve(),
    together,
  };
}
