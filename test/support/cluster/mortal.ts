import type { Call, Kubernetes } from '../../../src/platform/kubernetes/client.ts';

export type Mortal = { kubernetes: Kubernetes; isDead(): boolean; kill(): void };

/**
 * A connection that dies at its nth write, like a killed process: before the write reaches the server, or after the
 * write and before the response. After that nothing passes.
 */
export function buildMortal(real: Kubernetes, death: { atWrite: number; before: boolean }): Mortal {
  const killed = new AbortController();
  let writes = 0;
  const kill = (): void => killed.abort(new Error('killed'));
  const isWrite = ({ method, path }: Call): boolean => method !== 'GET' && !/\/(?:leases|events)\b/.test(path);
  return {
    isDead: () => killed.signal.aborted,
    kill,
    kubernetes: {
      ...real,
      async request<T>(call: Call): Promise<T> {
        killed.signal.throwIfAborted();
        if (isWrite(call)) writes += 1;
        const isLast = isWrite(call) && writes === death.atWrite;
        if (isLast && death.before) {
          kill();
          killed.signal.throwIfAborted();
        }
        // Requests in flight reach the server, whatever happens to the client.
        const answer = await real.request<T>(isLast ? { ...call, signal: AbortSignal.timeout(30_000) } : call);
        if (isLast) kill();
        killed.signal.throwIfAborted();
        return answer;
      },
      watch: (path, query, signal) => real.watch(path, query, AbortSignal.any([signal, killed.signal])),
      close: async () => undefined,
    },
  };
}
