import type { Example } from '../../../platform/contract/examples/example.ts';

export const demoExamples: Record<string, Example> = {
  createDemoUsage: {
    body: { force: false },
    answers: { 201: { object: 'demo_usage', records: 1840, days: 30, costUsd: 96.4 } },
  },
};
