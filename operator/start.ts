import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Kubernetes } from '../src/platform/kubernetes/client.ts';
import type { Logger } from '../src/platform/log.ts';
import { omitUndefined } from '../src/platform/records.ts';
import { startHealth } from './health.ts';
import type { ControllerOptions } from './runtime/controller.ts';
import { startLeaderElection } from './runtime/leader-election.ts';
import type { LeaseOptions } from './runtime/leader-election.ts';
import { openMetrics } from './runtime/metrics.ts';
import { runManager } from './runtime/manager.ts';

export type OperatorOptions = ControllerOptions & {
  namespace: string;
  host: string;
  port: number;
  lease?: Pick<LeaseOptions, 'durationMs' | 'deadlineMs' | 'retryMs'>;
  workers?: number;
  pollMs?: number;
};

export type Operator = { address: string; isLeading: () => boolean; close(): Promise<void> };

/** Reconciles the Sessions and Volumes of one namespace while it holds the lease `capstan-operator`. */
export async function startOperator(
  { kubernetes, log }: { kubernetes: Kubernetes; log: Logger },
  options: OperatorOptions,
): Promise<Operator> {
  const { namespace, lease = {}, workers, pollMs } = options;
  const metrics = openMetrics();
  const isReady = async (): Promise<boolean> => {
    try {
      await kubernetes.request({ method: 'GET', path: '/version', signal: AbortSignal.timeout(2000) });
      return true;
    } catch {
      return false;
    }
  };
  const health = await startHealth(options, { metrics, isReady });
  const identity = `${hostname()}-${randomBytes(4).toString('hex')}`;
  const election = startLeaderElection(
    { kubernetes, namespace, name: 'capstan-operator', identity, log, ...lease },
    (leadership) =>
      runManager(
        {
          kubernetes,
          namespace,
          controller: options,
          metrics,
          log,
          ...omitUndefined({ workers, pollMs }),
        },
        leadership,
      ),
  );
  metrics.watchLeading(election.isLeading);
  return {
    address: health.address,
    isLeading: election.isLeading,
    async close() {
      await election.close();
      await health.close();
    },
  };
}
