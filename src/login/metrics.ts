import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Fleet } from './browser/fleet.ts';
import type { Answered } from './challenges.ts';
import { decideLoginFault } from './errors.ts';

const OPERATIONS = ['login', 'signup', 'refresh', 'challenge'] as const;
export type LoginOperation = (typeof OPERATIONS)[number];

export type LoginMetrics = {
  /** Counts how the call ends, and how long one takes for which a browser signs in. Throws what the call throws. */
  measure: (operation: LoginOperation, call: () => Promise<Answered>) => Promise<Answered>;
};

const SECONDS = [0.5, 1, 2, 3, 5, 8, 13, 20, 30, 60, 120, 180];

/** What Prometheus is told of website logins. `fleet`: of this process. */
export function openLoginMetrics(registry: Registry, fleet: Fleet): LoginMetrics {
  const registers = [registry];
  const calls = new Counter({
    name: 'capstan_login_calls_total',
    help: 'Calls of the website login, by how they ended: ok, or the code of the error; and where the session came from.',
    labelNames: ['operation', 'outcome', 'cache'],
    registers,
  });
  for (const operation of OPERATIONS) calls.inc({ operation, outcome: 'ok', cache: 'miss' }, 0);
  const seconds = new Histogram({
    name: 'capstan_login_seconds',
    help: 'Time of the calls for which a browser signed in, waiting for people left out.',
    labelNames: ['operation'],
    buckets: SECONDS,
    registers,
  });
  registry.registerMetric(
    new Gauge({
      name: 'capstan_login_browsers',
      help: 'Browsers that run, the one that stands ready included.',
      registers: [],
      collect() {
        this.set(fleet.pids().length);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'capstan_login_jobs',
      help: 'Logins that run in a browser, that wait for a code or link, and that wait for a browser.',
      labelNames: ['state'],
      registers: [],
      collect() {
        const { taken, resting, waiting } = fleet.count();
        this.set({ state: 'running' }, taken);
        this.set({ state: 'asking' }, resting);
        this.set({ state: 'queued' }, waiting);
      },
    }),
  );
  return {
    async measure(operation, call) {
      const start = performance.now();
      try {
        const answered = await call();
        const cache = answered.headers?.['x-session-cache'] ?? '';
        calls.inc({ operation, outcome: 'ok', cache });
        if (cache === 'miss') seconds.observe({ operation }, (performance.now() - start) / 1000);
        return answered;
      } catch (error) {
        calls.inc({ operation, outcome: decideLoginFault(error, 0).code, cache: '' });
        throw error;
      }
    },
  };
}
