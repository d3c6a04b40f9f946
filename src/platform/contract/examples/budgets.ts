import { ID, LATER, TIME, cursorListExample } from './example.ts';
import type { Example } from './example.ts';

const budget = {
  object: 'budget',
  scope: 'key',
  id: ID.key,
  agentId: null,
  subjectId: null,
  limitUsd: 25,
  period: 'month',
  onReached: 'refuse',
  spentUsd: 13.82,
  reservedUsd: 0.04,
  remainingUsd: 11.14,
  reached: false,
  periodStart: '2026-01-01T00:00:00.000Z',
  periodEnd: '2026-02-01T00:00:00.000Z',
  createdAt: TIME,
  updatedAt: LATER,
};

export const budgetExamples: Record<string, Example> = {
  listBudgets: { query: { scope: 'key' }, answers: { 200: cursorListExample(budget) } },
  getBudget: { answers: { 200: budget } },
  putBudget: { body: { limitUsd: 25, period: 'month', onReached: 'refuse' }, answers: { 200: budget } },
  deleteBudget: { answers: { 200: { object: 'budget.deleted', id: `key/${ID.key}`, deleted: true } } },
};
