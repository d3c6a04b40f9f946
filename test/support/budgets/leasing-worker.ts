// A process with eight workers that spend a budget through leases until it refuses them. Arguments: database, organization,
// a file, which gets one byte for each call that has ended, and a mode. `wait`: it sends `ready` and waits for a message;
// `die`: it sends `working` after a few calls, and waits after many to be killed.
import { once } from 'node:events';
import { openSync, writeSync } from 'node:fs';
import { pino } from 'pino';
import { openBudgets } from '../../../src/platform/budgets/budgets.ts';
import { openMemoryBus } from '../../../src/platform/bus/memory.ts';
import { openPostgres } from '../../../src/platform/db/postgres.ts';
import { BudgetReachedError } from '../../../src/platform/errors.ts';
import { FEW_LEASED, LEASED_COST, LEASED_WORST, MOST_LEASED, WORKERS } from './amounts.ts';

const [, , url = '', organizationId = '', path = '', mode = ''] = process.argv;
const db = await openPostgres({ url, poolSize: 4 });
const bus = openMemoryBus();
const budgets = openBudgets({ db, bus, log: pino({ level: 'silent' }) });
const ended = openSync(path, 'a');
let calls = 0;

async function work(): Promise<void> {
  for (;;) {
    const reservation = await budgets
      .reserve({ organizationId }, () => LEASED_WORST)
      .catch((error: unknown) => {
        if (!(error instanceof BudgetReachedError)) throw error;
        return undefined;
      });
    if (reservation === undefined) return;
    // A call takes at least a turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    writeSync(ended, '.');
    await reservation.settle(LEASED_COST);
    calls += 1;
    if (mode === 'die' && calls === FEW_LEASED) process.send?.('working');
    if (mode === 'die' && calls >= MOST_LEASED) await once(process, 'message');
  }
}

if (mode === 'wait') {
  process.send?.('ready');
  await once(process, 'message');
}
await Promise.all(Array.from({ length: WORKERS }, work));
await budgets.close();
await bus.close();
await db.close();
