import { z } from 'zod';
import { defineRoute } from '../../platform/contract/route.ts';

export const DemoUsageCreate = z
  .object({ force: z.boolean().default(false).describe('also where the ledger has entries of other days') })
  .meta({ id: 'DemoUsageCreate' });

export const DemoUsage = z
  .object({
    object: z.literal('demo_usage'),
    records: z.int().describe('entries of the ledger that were made'),
    days: z.int(),
    costUsd: z.number(),
  })
  .meta({ id: 'DemoUsage' });
export type DemoUsage = z.infer<typeof DemoUsage>;

export const demoRoutes = {
  createDemoUsage: defineRoute({
    tag: 'Organizations',
    scope: 'owner',
    id: 'createDemoUsage',
    method: 'POST',
    path: '/v1/demo-usage',
    summary: 'Make up 30 days of usage of the subjects that have sessions; `metadata.demo` marks each entry',
    body: DemoUsageCreate,
    responses: { 201: DemoUsage },
    errors: ['invalid_state'],
  }),
};
