import type { Bus, Subscription } from './bus.ts';

const BUDGETS = 'capstan.budgets';

/** Tells every replica that the budgets of an organization have changed. */
export function sendBudgetsChanged(bus: Bus, organizationId: string): void {
  bus.send(BUDGETS, { organizationId });
}

export function onBudgetsChanged(bus: Bus, handler: (organizationId: string) => void): Promise<Subscription> {
  return bus.subscribe(BUDGETS, ({ data }) => handler((data as { organizationId: string }).organizationId));
}
