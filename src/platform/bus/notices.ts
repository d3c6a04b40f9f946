import type { BudgetRef } from '../contract/budgets.ts';
import type { Bus, Subscription } from './bus.ts';

/** Something that happened outside of a session's log: so far of a budget. No content. */
export type Notice = {
  id: string;
  type: string;
  sessionId: string | null;
  agentId: string | null;
  subjectId: string | null;
  /** what it happened to */
  resourceId: string | null;
  createdAt: string;
  /** of the type `budget.threshold` */
  budget?: BudgetRef;
  /** percent of the budget that is spent, at least */
  threshold?: number;
};

const notices = (organizationId: string) => `capstan.notices.${organizationId}`;

/** Tells the streams of an organization. Lost where nobody listens. */
export function sendNotice(bus: Bus, organizationId: string, notice: Notice): void {
  bus.send(notices(organizationId), notice);
}

export function onNotice(bus: Bus, organizationId: string, handler: (notice: Notice) => void): Promise<Subscription> {
  return bus.subscribe(notices(organizationId), ({ data }) => handler(data as Notice));
}
