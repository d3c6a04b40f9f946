import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { SandboxClass } from '../../src/sandbox/resources/sandbox-class.ts';
import type { Session } from '../../src/sandbox/resources/session.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import { isLossOpen } from '../volume/loss.ts';

export type ReadResources = () => {
  sessions: readonly Pick<Session, 'status'>[];
  volumes: readonly Pick<Volume, 'metadata' | 'status'>[];
  classes: readonly Pick<SandboxClass, 'metadata' | 'status'>[];
};

/** Gauges of the resources that the leader manages, read when they are collected. */
export function registerResourceGauges(registry: Registry, resources: ReadResources): void {
  for (const kind of ['sessions', 'volumes'] as const) {
    registry.registerMetric(
      new Gauge({
        name: `capstan_operator_${kind}`,
        help: `Number of ${kind} that the leader manages, by phase and by reason of the condition Ready.`,
        labelNames: ['phase', 'reason'],
        registers: [],
        collect() {
          this.reset();
          // Counted first: setting a gauge is much slower, and there are thousands of resources.
          const counts = new Map<string, number>();
          for (const { status } of resources()[kind]) {
            const reason = status?.conditions?.find(({ type }) => type === 'Ready')?.reason ?? 'Unknown';
            const key = `${status?.phase ?? 'Unknown'}/${reason}`;
            counts.set(key, (counts.get(key) ?? 0) + 1);
          }
          for (const [key, count] of counts) {
            const [phase = '', reason = ''] = key.split('/');
            this.set({ phase, reason }, count);
          }
        },
      }),
    );
  }
  registry.registerMetric(
    new Gauge({
      name: 'capstan_operator_volumes_files_lost',
      help: 'Number of volumes that have lost their files without confirmation.',
      registers: [],
      collect() {
        this.set(resources().volumes.filter(isLossOpen).length);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'capstan_operator_warm_pods',
      help: 'Pods of the warm pool of a class, by state.',
      labelNames: ['class', 'state'],
      registers: [],
      collect() {
        this.reset();
        for (const { metadata, status } of resources().classes) {
          if (status?.warm === undefined) continue;
          const { pods, ready } = status.warm;
          this.set({ class: metadata.name, state: 'ready' }, ready);
          this.set({ class: metadata.name, state: 'starting' }, pods - ready);
        }
      },
    }),
  );
}
