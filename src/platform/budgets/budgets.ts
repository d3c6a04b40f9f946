// Tests: test/platform/budgets.test.ts
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus, Subscription } from '../bus/bus.ts';
import { onBudgetsChanged, sendBudgetsChanged } from '../bus/budget-changes.ts';
import { sendNotice } from '../bus/notices.ts';
import type { Db } from '../db/db.ts';
import { BudgetReachedError, errorText } from '../errors.ts';
import { newId } from '../ids.ts';
import { startPeriodicTasks } from '../jobs/periodic-tasks.ts';
import type { Logger } from '../log.ts';
import {
  deleteLostReservations,
  extendReservations,
  listBudgetTargets,
  listTargets,
  reserveBudgets,
  settleBudgets,
} from '../store/budgets.ts';
import type { CrossedThreshold, ReserveAnswer, Spender } from '../store/budgets.ts';
import { Leases } from './leases.ts';

/** What a model call under way may cost at most. */
export type Reservation = {
  /**
   * Replaces the worst case by what the call cost. Never throws: what could not be written is tried again. The cost of a
   * call without a session may be written a few milliseconds later.
   */
  settle(costUsd: number): Promise<void>;
};

export type Budgets = {
  /**
   * Reserves the worst case of a call, which is asked for only where a budget applies. Undefined where none does. Throws a
   * `BudgetReachedError`, and what the database throws.
   */
  reserve(spender: Spender, estimateWorst: () => number): Promise<Reservation | undefined>;
  close(): Promise<void>;
};

/** A reservation of a process that has died counts no longer than this. */
const RESERVATION_SECONDS = 45;
const EXTEND_MS = 10_000;
const RETRY_MS = 2000;
const CLEAN_MS = 3_600_000;
/** A new budget applies within this time even where the news of it is lost. */
const KNOWN_MS = 3000;
const MAX_KNOWN = 10_000;
/** Costs that could not be written and are tried again. */
const MAX_UNSETTLED = 10_000;
const RENEW_MS = 5000;
/** A lease is worth opening where a sixteenth of what is left pays for eight calls. */
const LEASED_CALLS = 128;
/** How long a call waits, again and again, for leases to give back what they do not use. */
const RECALL_MS = [5, 10, 20, 40, 80, 160, 320, 640];
/** After waiting in vain, since the process that holds the lease has died, calls are refused at once for this time. */
const NO_RECALL_MS = 10_000;

type Known = { targets: Promise<Set<string>>; expires: number };

class BudgetKeeper implements Budgets {
  readonly #ports: { db: Db; bus: Bus; log: Logger };
  readonly #known = new Map<string, Known>();
  /** calls under way */
  readonly #held = new Set<string>();
  readonly #unsettled = new Map<string, number>();
  readonly #leases: Leases;
  /** organizations whose leases were recalled in vain, and until when they are not recalled again */
  readonly #lost = new Map<string, number>();
  readonly #subscription: Promise<Subscription>;
  readonly #tasks: { close(): Promise<void> };

  constructor(ports: { db: Db; bus: Bus; log: Logger }) {
    this.#ports = ports;
    this.#leases = new Leases({ ...ports, report: (crossed) => this.#report(crossed) });
    this.#subscription = onBudgetsChanged(ports.bus, (organizationId) => {
      this.#known.delete(organizationId);
      void this.#leases.recall(organizationId);
    });
    this.#subscription.catch((error: unknown) => {
      ports.log.warn({ error: errorText(error) }, 'changes of budgets are noticed with a delay');
    });
    this.#tasks = startPeriodicTasks(
      [
        { name: 'extend reservations of budgets', periodMs: EXTEND_MS, run: () => this.#extend() },
        { name: 'settle model calls', periodMs: RETRY_MS, run: () => this.#settleAgain() },
        { name: 'renew leases of budgets', periodMs: RENEW_MS, run: () => this.#leases.renew() },
        {
          name: 'delete lost reservations of budgets',
          periodMs: CLEAN_MS,
          run: async () => void (await deleteLostReservations(ports.db)),
        },
      ],
      ports.log,
    );
  }

  async reserve(spender: Spender, estimateWorst: () => number): Promise<Reservation | undefined> {
    const known = await this.#findTargets(spender.organizationId);
    if (known.size === 0) return undefined;
    const targets = listTargets(spender).filter((target) => known.has(target));
    if (targets.length === 0) return undefined;
    const worstUsd = estimateWorst();
    const isLeased = spender.sessionId === undefined;
    const owner = { organizationId: spender.organizationId, targets };
    const settle = isLeased ? this.#leases.take(owner, worstUsd) : undefined;
    if (settle !== undefined) return { settle };
    const id = newId('cal');
    const answer = await this.#reserve(spender, { id, targets, amountUsd: worstUsd, seconds: RESERVATION_SECONDS });
    if ('refused' in answer) throw new BudgetReachedError(answer.refused);
    if (answer.held === 0) return undefined;
    this.#held.add(id);
    if (isLeased && (answer.room ?? Infinity) >= worstUsd * LEASED_CALLS) this.#leases.open(owner, worstUsd);
    return { settle: (costUsd) => this.#settle(id, costUsd) };
  }

  async close(): Promise<void> {
    await this.#tasks.close();
    await this.#leases.close();
    await this.#settleAgain();
    const subscription = await this.#subscription.catch(() => undefined);
    subscription?.close();
  }

  /** Before a call is refused, the leases of all processes give back what no call of theirs uses. */
  async #reserve(spender: Spender, call: Parameters<typeof reserveBudgets>[2]): Promise<ReserveAnswer> {
    const { db, bus } = this.#ports;
    const { organizationId } = spender;
    let answer = await reserveBudgets(db, spender, call);
    if ((this.#lost.get(organizationId) ?? 0) > performance.now()) return answer;
    for (const waitMs of RECALL_MS) {
      if (!('refused' in answer) || !answer.recallable) {
        this.#lost.delete(organizationId);
        return answer;
      }
      sendBudgetsChanged(bus, organizationId);
      await this.#leases.recall(organizationId);
      await sleep(waitMs);
      answer = await reserveBudgets(db, spender, call);
    }
    if (this.#lost.size < MAX_KNOWN) this.#lost.set(organizationId, performance.now() + NO_RECALL_MS);
    return answer;
  }

  #findTargets(organizationId: string): Promise<Set<string>> {
    const now = performance.now();
    const entry = this.#known.get(organizationId);
    if (entry !== undefined && entry.expires > now) return entry.targets;
    const targets = listBudgetTargets(this.#ports.db, organizationId);
    this.#known.delete(organizationId);
    this.#known.set(organizationId, { targets, expires: now + KNOWN_MS });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    targets.catch(() => {
      if (this.#known.get(organizationId)?.targets === targets) this.#known.delete(organizationId);
    });
    return targets;
  }

  async #settle(id: string, costUsd: number): Promise<void> {
    if (!this.#held.delete(id)) return;
    try {
      this.#report(await settleBudgets(this.#ports.db, id, costUsd));
    } catch (error) {
      this.#ports.log.warn({ error: errorText(error) }, 'could not settle a model call; trying again');
      if (this.#unsettled.size < MAX_UNSETTLED) this.#unsettled.set(id, costUsd);
    }
  }

  async #settleAgain(): Promise<void> {
    for (const [id, costUsd] of this.#unsettled) {
      this.#report(await settleBudgets(this.#ports.db, id, costUsd));
      this.#unsettled.delete(id);
    }
  }

  async #extend(): Promise<void> {
    const calls = [...this.#held, ...this.#unsettled.keys()];
    if (calls.length > 0) await extendReservations(this.#ports.db, calls, RESERVATION_SECONDS);
  }

  #report(crossed: readonly CrossedThreshold[]): void {
    for (const { organizationId, ...threshold } of crossed) {
      sendNotice(this.#ports.bus, organizationId, {
        id: newId('evt'),
        type: 'budget.threshold',
        resourceId: `${threshold.budget.scope}/${threshold.budget.id}`,
        createdAt: new Date().toISOString(),
        ...threshold,
      });
    }
  }
}

/** Keeps model calls within the budgets of their organization. Any number of processes may. */
export function openBudgets(ports: { db: Db; bus: Bus; log: Logger }): Budgets {
  return new BudgetKeeper(ports);
}
