import type { FastifyInstance } from 'fastify';
import { buildCursorList } from '../../../platform/contract/common.ts';
import { errors } from '../../../platform/errors.ts';
import { registerRoute } from '../../../platform/http/route.ts';
import { pendingActionRoutes } from '../../contract/routes/pending-actions.ts';
import { findOpenAction, listOpenActions } from '../../store/pending-action-list.ts';
import type { ApiDeps } from '../deps.ts';
import { openOrganizationHub } from '../events/organization/hub.ts';
import { openOrganizationStream } from '../events/organization/route.ts';

/** What waits for people, and what happens, across the sessions of an organization. */
export function registerPendingActionRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const hub = openOrganizationHub(deps);
  deps.closing.addEventListener('abort', () => hub.close(), { once: true });

  registerRoute(app, deps, pendingActionRoutes.listPendingActions, async ({ query, caller }) => {
    const { rows, nextCursor } = await listOpenActions(deps.db, caller.organizationId, query);
    return { status: 200, body: buildCursorList(rows, query, nextCursor) };
  });

  registerRoute(app, deps, pendingActionRoutes.getPendingAction, async ({ params, caller }) => {
    const action = await findOpenAction(deps.db, caller.organizationId, params.actionId);
    if (action === undefined) throw errors.notFound('pending action');
    return { status: 200, body: action };
  });

  registerRoute(app, deps, pendingActionRoutes.streamOrganizationEvents, (call) =>
    openOrganizationStream(deps, hub, call),
  );
}
