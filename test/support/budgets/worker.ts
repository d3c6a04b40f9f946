// A process with eight workers that reserve and settle until the budget is spent. Arguments: database, organization and,
// where one of them is to keep its first reservation for ever, `hold`: it sends `held`, and the others wait for a message.
// Sends `working` after a few calls.
import { once } from 'node:events';
import { pino } from 'pino';
import { openBudgets } from '../../../src/platform/budgets/budgets.ts';
import { openMemoryBus } from '../../../src/platform/bus/memory.ts';
import { openPostgres } from '../../../src/platform/db/postgres.ts';
import { BudgetReachedError } from '../../../src/platform/errors.ts';
import { COST, FEW, WORKERS, WORST } from './amounts.ts';

const [, , url = '', organizationId = '', mode = ''] = process.argv;
const db = await openPostgres({ url, poolSize: 4 });
const bus = openMemoryBus();
const budgets = openBudgets({ db, bus, log: pino({ level: 'silent' }) });
let settled = 0;

const reserve = () =>
  budgets
    .reserve({ organizationId }, () => WORST)
    .catch((error: unknown) => {
      if (!(error instanceof BudgetReachedError)) throw error;
      return undefined;
    });

async function work(): Promise<void> {
  for (;;) {
    const reservation = await reserve();
    if (reservation === undefined) return;
    await reservation.settle(COST);
    settled += 1;
    if (settled === FEW) process.send?.('working');
  }
}

if (mode === 'hold') {
  if ((await reserve()) === undefined) throw new Error('The first reservation was refused.');
  process.send?.('held');
  await once(process, 'message');
}
await Promise.all(Array.from({ length: WORKERS - (mode === 'hold' ? 1 : 0) }, work));
if (mode !== 'hold') {
  await budgets.close();
  await bus.close();
  await db.close();
}
