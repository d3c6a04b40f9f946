import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { ModelUsage } from '../inference/model.ts';
import type { Fleet } from './browser/fleet.ts';
import type { LoginResponse } from './logins.ts';
import { toLoginError } from './errors.ts';
import type { FallbackOutcome } from './form-reader.ts';

const OPERATIONS = ['login', 'signup', 'refresh', 'challenge', 'tool'] as const;
export type LoginOperation = (typeof OPERATIONS)[number];

export type LoginMetrics = {
  /** Counts the outcome of a call, and times calls for which a browser signed in. Throws what the call throws. */
  measure: (operation: LoginOperation, call: () => Promise<LoginResponse>) => Promise<LoginResponse>;
  /** Counts a model call about a form. */
  countModelCall: (outcome: FallbackOutcome, usage?: ModelUsage) => void;
};

const SECONDS = [0.5, 1, 2, 3, 5, 8, 13, 20, 30, 60, 120, 180];

/** Metrics of website logins. `fleet`: of this process. */
export function openLoginMetrics(registry: Registry, fleet: Fleet): LoginMetrics {
  const registers = [registry];
  const calls = new Counter({
    name: 'capstan_login_calls_total',
    help: 'Calls of the website login, by outcome (ok or error code) and source of the session.',
    labelNames: ['operation', 'outcome', 'cache'],
    registers,
  });
  for (const operation of OPERATIONS) calls.inc({ operation, outcome: 'ok', cache: 'miss' }, 0);
  const seconds = new Histogram({
    name: 'capstan_login_seconds',
    help: 'Duration of calls for which a browser signed in, without waits for people.',
    labelNames: ['operation'],
    buckets: SECONDS,
    registers,
  });
  const modelCalls = new Counter({
    name: 'capstan_login_model_calls_total',
    help: 'Model calls about pages, by result: picked, nothing, unusable or failed.',
    labelNames: ['outcome'],
    registers,
  });
  const modelTokens = new Counter({
    name: 'capstan_login_model_tokens_total',
    help: 'Tokens of these calls.',
    labelNames: ['direction'],
    registers,
  });
  registry.registerMetric(
    new Gauge({
      name: 'capstan_login_browsers',
      help: 'Running browsers, including the prewarmed one.',
      registers: [],
      collect() {
        this.set(fleet.pids().length);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'capstan_login_jobs',
      help: 'Logins by state: running in a browser, waiting for a code or link, waiting for a browser.',
      labelNames: ['state'],
      registers: [],
      collect() {
        const { inUse, paused, waiting } = fleet.count();
        this.set({ state: 'running' }, inUse);
        this.set({ state: 'asking' }, paused);
        this.set({ state: 'queued' }, waiting);
      },
    }),
  );
  return {
    countModelCall(outcome, usage) {
      modelCalls.inc({ outcome });
      if (usage === undefined) return;
      modelTokens.inc({ direction: 'input' }, usage.input);
      modelTokens.inc({ direction: 'output' }, usage.output);
    },
    async measure(operation, call) {
      const start = performance.now();
      try {
        const answered = await call();
        const cache = answered.headers?.['x-session-cache'] ?? '';
        calls.inc({ operation, outcome: 'ok', cache });
        if (cache === 'miss') seconds.observe({ operation }, (performance.now() - start) / 1000);
        return answered;
      } catch (error) {
        calls.inc({ operation, outcome: toLoginError(error, 0).code, cache: '' });
        throw error;
      }
    },
  };
}
