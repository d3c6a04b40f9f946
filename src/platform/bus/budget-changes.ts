import { buildChange } from './change.ts';
import type { Bus, Subscription } from './bus.ts';

const budgetsChanged = buildChange<{ organizationId: string }>('capstan.budgets');

/**
 * Tells every replica that the budgets of an organization have changed, or that a call of it needs what their leases do not
 * use: they give it back.
 */
export function sendBudgetsChanged(bus: Bus, organizationId: string): void {
  budgetsChanged.send(bus, { organizationId });
}

export function onBudgetsChanged(bus: Bus, handler: (organizationId: string) => void): Promise<Subscription> {
  return budgetsChanged.subscribe(bus, ({ organizationId }) => handler(organizationId));
}
