// Tests: test/agents/api/demo-usage.test.ts
import type { FastifyInstance } from 'fastify';
import { errors } from '../../../platform/errors.ts';
import { registerRoute } from '../../../platform/http/route.ts';
import { demoRoutes } from '../../contract/demo.ts';
import { hasOlderUsage, insertDemoUsage, listDemoSubjects } from '../../store/demo-usage.ts';
import type { ApiDeps } from '../deps.ts';
import { DEMO_DAYS, buildDemoUsage } from './demo-usage.ts';

const MAX_SUBJECTS = 20;

export function registerDemoRoutes(app: FastifyInstance, deps: ApiDeps): void {
  registerRoute(app, deps, demoRoutes.createDemoUsage, async ({ body, caller }) => {
    const { organizationId, keyId } = caller;
    const records = await deps.db.transaction(async (tx) => {
      const now = new Date();
      if (!body.force && (await hasOlderUsage(tx, organizationId, now))) {
        throw errors.invalidState('The ledger has entries of other days; force adds demo usage to them.');
      }
      const made = buildDemoUsage(await listDemoSubjects(tx, organizationId, MAX_SUBJECTS), keyId, now);
      await insertDemoUsage(tx, organizationId, made);
      return made;
    });
    const costUsd = records.reduce((sum, record) => sum + record.costUsd, 0);
    return { status: 201, body: { object: 'demo_usage', records: records.length, days: DEMO_DAYS, costUsd } };
  });
}
