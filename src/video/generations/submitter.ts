import { sendRendersQueued } from '../channels.ts';
import type { Bus } from '../../platform/bus/bus.ts';
import { DbUnavailableError } from '../../platform/db/db.ts';
import type { Db, Queryable } from '../../platform/db/db.ts';
import type { IdempotencyRef, KeptAnswer } from '../../platform/store/idempotency.ts';
import { keepAnswers } from '../../platform/store/idempotency.ts';
import { CapstanError } from '../../platform/errors.ts';
import { ensureAccount } from '../store/credits.ts';
import { insertGenerations, lockAccounts } from '../store/submits.ts';
import type { NewGeneration } from '../store/submits.ts';
import type { VideoQueue } from '../jobs/queue.ts';
import type { VideoSettings } from '../settings.ts';
import { decideCharges } from './decide.ts';

/** The generations of one request, ready to be stored. */
export type Order = {
  organizationId: string;
  generations: readonly NewGeneration[];
  /** for replays */
  answer?: IdempotencyRef & KeptAnswer;
};

/** `overtaken`: another request with the same idempotency key was faster. */
export type Outcome = 'queued' | 'overtaken' | { required: number; balance: number };

/**
 * Stores orders: credits, generations, jobs and the responses for replays, all of an order or nothing. Orders that arrive
 * while a transaction is running share the next one.
 */
export type Submitter = { submit(order: Order): Promise<Outcome> };

type SubmitterPorts = { db: Db; bus: Bus; queue: VideoQueue; settings: VideoSettings };

type Waiting = { order: Order; resolve: (outcome: Outcome) => void; reject: (error: unknown) => void };

/** Orders in one transaction. */
const MAX_GROUP = 64;

/** Another request has used the idempotency keys first; the other orders of the group are stored without these. */
class SupersededError extends CapstanError<'superseded'> {
  readonly orders: ReadonlySet<Order>;
  constructor(orders: ReadonlySet<Order>) {
    super('superseded', 'Idempotency keys have been used meanwhile.', { retryable: true });
    this.orders = orders;
  }
}

export function buildSubmitter(ports: SubmitterPorts): Submitter {
  let waiting: Waiting[] = [];
  let isFlushing = false;
  /** Orders of organizations whose account is new or locked: these wait for it without delaying the others. */
  const contended = new Map<string, Waiting[]>();

  const flush = async () => {
    while (waiting.length > 0) {
      const group = takeGroup(waiting);
      waiting = waiting.filter((item) => !group.includes(item));
      (await storeGroup(ports, group, 'free')).forEach(deferContended);
    }
    isFlushing = false;
  };

  const deferContended = (item: Waiting) => {
    const { organizationId } = item.order;
    const line = contended.get(organizationId);
    if (line !== undefined) return void line.push(item);
    contended.set(organizationId, [item]);
    void flushContended(organizationId);
  };

  const flushContended = async (organizationId: string) => {
    // Lets other orders of the same group join.
    await Promise.resolve();
    for (let line = contended.get(organizationId) ?? []; line.length > 0; line = contended.get(organizationId) ?? []) {
      const group = takeGroup(line);
      contended.set(
        organizationId,
        line.filter((item) => !group.includes(item)),
      );
      await storeGroup(ports, group, 'all');
    }
    contended.delete(organizationId);
  };

  return {
    submit(order) {
      return new Promise((resolve, reject) => {
        const item = { order, resolve, reject };
        if (contended.has(order.organizationId)) return deferContended(item);
        waiting.push(item);
        if (isFlushing) return;
        isFlushing = true;
        // Lets other requests of this tick of the event loop join.
        setImmediate(() => void flush());
      });
    },
  };
}

/** The first orders, without two that have the same idempotency key. */
function takeGroup(waiting: readonly Waiting[]): Waiting[] {
  const keys = new Set<string>();
  const isFirst = ({ order: { answer } }: Waiting) => {
    if (answer === undefined) return true;
    const name = `${answer.organizationId} ${answer.key}`;
    if (keys.has(name)) return false;
    keys.add(name);
    return true;
  };
  return waiting.filter(isFirst).slice(0, MAX_GROUP);
}

/** Stores orders in one transaction; returns those whose account was locked or new. Never throws. */
async function storeGroup(ports: SubmitterPorts, group: readonly Waiting[], which: 'free' | 'all'): Promise<Waiting[]> {
  const orders = group.map(({ order }) => order);
  try {
    const outcomes = await ports.db.transaction((tx) => storeOrders(tx, ports, orders, which));
    if ([...outcomes.values()].includes('queued')) sendRendersQueued(ports.bus);
    for (const { order, resolve } of group) {
      const outcome = outcomes.get(order);
      if (outcome !== undefined) resolve(outcome);
    }
    return group.filter(({ order }) => !outcomes.has(order));
  } catch (error) {
    if (error instanceof SupersededError) {
      for (const { order, resolve } of group) if (error.orders.has(order)) resolve('overtaken');
      return storeGroup(
        ports,
        group.filter(({ order }) => !error.orders.has(order)),
        which,
      );
    }
    // If the database became unavailable, the transaction may have been committed, so nothing is stored again.
    if (group.length === 1 || error instanceof DbUnavailableError) {
      for (const { reject } of group) reject(error);
      return [];
    }
    // One bad order must not fail the others of its transaction.
    const left: Waiting[] = [];
    for (const item of group) left.push(...(await storeGroup(ports, [item], which)));
    return left;
  }
}

async function storeOrders(
  tx: Queryable,
  { queue, settings }: SubmitterPorts,
  orders: readonly Order[],
  which: 'free' | 'all',
): Promise<Map<Order, Outcome>> {
  const organizations = [...new Set(orders.map(({ organizationId }) => organizationId))];
  let accounts = await lockAccounts(tx, organizations, which);
  if (which === 'all' && accounts.length < organizations.length) {
    // A new organization has no account yet.
    for (const id of organizations) await ensureAccount(tx, id, settings.initialCredits);
    accounts = await lockAccounts(tx, organizations, which);
  }
  if (which === 'all' && accounts.length < organizations.length) throw new Error('An account is gone.');
  const { outcomes, paid } = decideCharges(accounts, orders);
  if (paid.length === 0) return outcomes;
  const answers = orders.flatMap((order) =>
    outcomes.get(order) === 'queued' && order.answer !== undefined ? [order.answer] : [],
  );
  if (answers.length > 0) {
    const kept = new Set((await keepAnswers(tx, answers)).map(({ organizationId, key }) => `${organizationId} ${key}`));
    const late = answers.filter(({ organizationId, key }) => !kept.has(`${organizationId} ${key}`));
    if (late.length > 0) {
      throw new SupersededError(new Set(orders.filter(({ answer }) => answer !== undefined && late.includes(answer))));
    }
  }
  await insertGenerations(tx, paid);
  await queue.addRenders(
    tx,
    paid.map(({ jobId: id, id: generationId, queueTag }) => ({ id, generationId, queueTag })),
  );
  return outcomes;
}
