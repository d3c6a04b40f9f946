// Tests: test/chart/monitoring.test.ts
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Db } from '../../platform/db/db.ts';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import { readRecordFigures } from '../../platform/store/record-figures.ts';
import type { RecordFigures } from '../../platform/store/record-figures.ts';

/** All gauges of one scrape share one read. */
const SHARED_MS = 2000;

const GAUGES: Readonly<Record<string, { help: string; value: (figures: RecordFigures) => number }>> = {
  capstan_webhook_deliveries_pending: {
    help: 'Deliveries of webhooks that wait for their first or next try.',
    value: ({ pendingDeliveries }) => pendingDeliveries,
  },
  capstan_webhook_backlog_largest: {
    help: 'Pending deliveries of the webhook that has most.',
    value: ({ largestBacklog }) => largestBacklog,
  },
  capstan_webhooks_failing: {
    help: 'Enabled webhooks whose last delivery failed.',
    value: ({ failingWebhooks }) => failingWebhooks,
  },
  capstan_webhook_deliveries_dropped: {
    help: 'Deliveries dropped from full backlogs, of webhooks that were not switched on again since.',
    value: ({ droppedDeliveries }) => droppedDeliveries,
  },
  capstan_budget_reserved_usd: {
    help: 'What model calls under way have reserved in budgets, in US dollars.',
    value: ({ reservedUsd }) => reservedUsd,
  },
  capstan_audit_records: {
    help: 'Records that the audit has got so far, in all organizations.',
    value: ({ auditRecords }) => auditRecords,
  },
};

/** Metrics of webhooks, budgets and the audit. They cover the whole installation, whichever worker reports them. */
export function openRecordMetrics(registry: Registry, { db, log }: { db: Db; log: Logger }): void {
  let last: { at: number; figures: Promise<RecordFigures | undefined> } | undefined;
  const read = (): Promise<RecordFigures | undefined> => {
    const at = performance.now();
    if (last === undefined || at - last.at > SHARED_MS) {
      const figures = readRecordFigures(db).catch((error: unknown) => {
        // The other metrics are worth reporting without these.
        log.warn({ error: errorText(error) }, 'could not read the figures of webhooks, budgets and the audit');
        return undefined;
      });
      last = { at, figures };
    }
    return last.figures;
  };
  for (const [name, { help, value }] of Object.entries(GAUGES)) {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        async collect() {
          const figures = await read();
          if (figures === undefined) this.remove();
          else this.set(value(figures));
        },
      }),
    );
  }
  registry.registerMetric(
    new Gauge({
      name: 'capstan_budgets_reached',
      help: 'Budgets that are spent in their current period, by what happens then.',
      labelNames: ['on_reached'],
      registers: [],
      async collect() {
        const figures = await read();
        this.reset();
        for (const [onReached, count] of Object.entries(figures?.reachedBudgets ?? {})) {
          this.set({ on_reached: onReached }, count);
        }
      },
    }),
  );
}
