import type { FastifyInstance } from 'fastify';
import { auditRoutes } from '../../contract/audit.ts';
import { buildCursorList } from '../../contract/common.ts';
import { listAudit, verifyAudit } from '../../store/audit.ts';
import type { HttpDeps, HttpPorts } from '../deps.ts';
import { registerRoute } from '../route.ts';

/** Who changed what in the caller's organization, and whether the records are whole. */
export function registerAuditRoutes(app: FastifyInstance, deps: HttpPorts & HttpDeps): void {
  const { db } = deps;

  registerRoute(app, deps, auditRoutes.listAudit, async ({ query, caller }) => {
    const { rows, nextCursor } = await listAudit(db, caller.organizationId, query);
    return { status: 200, body: buildCursorList(rows, query, nextCursor) };
  });

  registerRoute(app, deps, auditRoutes.verifyAudit, async ({ caller }) => ({
    status: 200,
    body: await verifyAudit(db, caller.organizationId),
  }));
}
