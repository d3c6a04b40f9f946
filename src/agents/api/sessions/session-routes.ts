import type { FastifyInstance } from 'fastify';
import { buildAnyList, buildCursorList } from '../../../platform/contract/common.ts';
import { sessionRoutes } from '../../contract/routes/sessions.ts';
import { errors } from '../../../platform/errors.ts';
import { listSessions } from '../../store/session-list.ts';
import { updateSession } from '../../store/sessions.ts';
import { listTurns } from '../../store/turn-list.ts';
import { getActiveAgent } from '../agents/find.ts';
import { dropOrphan } from '../files/volume.ts';
import { rateLimitHeaders } from '../../../platform/http/allowance.ts';
import type { ApiDeps } from '../deps.ts';
import { registerRoute } from '../../../platform/http/route.ts';
import { checkReadable } from '../approvers.ts';
import { createSession } from './create.ts';
import { archiveSession, removeSession } from './end.ts';
import { getSession } from './find.ts';
import { listSandboxes, stopSandbox } from './sandboxes.ts';
import { buildTrace } from './trace.ts';

export function registerSessionRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  registerRoute(app, deps, sessionRoutes.createSession, async ({ body, caller }) => {
    const { session, rateLimit } = await createSession(deps, caller.organizationId, body);
    return { status: 201, body: session, headers: rateLimitHeaders(rateLimit) };
  });

  registerRoute(app, deps, sessionRoutes.listSessions, async ({ query, caller }) => {
    const { agent, subject, ...rest } = query;
    const filter = { ...rest, agentId: query.agentId ?? agent, subjectId: query.subjectId ?? subject };
    const found = await listSessions(db, caller.organizationId, filter, query);
    return { status: 200, body: buildAnyList(found.rows, query, found) };
  });

  registerRoute(app, deps, sessionRoutes.getSession, async ({ params, caller }) => {
    const session = await getSession(db, caller.organizationId, params.sessionId);
    await checkReadable(db, caller, session.id);
    return { status: 200, body: session };
  });

  registerRoute(app, deps, sessionRoutes.listTurns, async ({ params, query, caller }) => {
    await getSession(db, caller.organizationId, params.sessionId);
    const { rows, nextCursor } = await listTurns(db, params.sessionId, query);
    return { status: 200, body: buildCursorList(rows, query, nextCursor) };
  });

  registerRoute(app, deps, sessionRoutes.getTrace, async ({ params, query, caller }) => {
    const session = await getSession(db, caller.organizationId, params.sessionId);
    return { status: 200, body: await buildTrace(deps, session.id, query) };
  });

  registerRoute(app, deps, sessionRoutes.updateSession, async ({ params, body, caller }) => {
    const { title = null, yoloMode = null, metadata = null, reasoning } = body;
    const change = { title, yoloMode, metadata, reasoning };
    const updated = await updateSession(db, caller.organizationId, params.sessionId, change);
    const session = await getSession(db, caller.organizationId, params.sessionId);
    if (!updated) throw errors.invalidState('The session is archived.');
    return { status: 200, body: session };
  });

  registerRoute(app, deps, sessionRoutes.archiveSession, async ({ params, caller }) => ({
    status: 200,
    body: await archiveSession(deps, caller.organizationId, params.sessionId),
  }));

  registerRoute(app, deps, sessionRoutes.deleteSession, async ({ params, caller }) => {
    await removeSession(deps, caller.organizationId, params.sessionId);
    return { status: 200, body: { object: 'session.deleted', id: params.sessionId, deleted: true } };
  });

  registerRoute(app, deps, sessionRoutes.listSandboxes, async ({ query, caller }) => {
    const { rows, nextCursor } = await listSandboxes(deps, caller.organizationId, query);
    return { status: 200, body: buildCursorList(rows, query, nextCursor) };
  });

  registerRoute(app, deps, sessionRoutes.stopSandbox, async ({ params, caller }) => {
    await stopSandbox(deps, caller.organizationId, params.sessionId);
    return { status: 200, body: { object: 'sandbox.stopped', sessionId: params.sessionId, stopped: true } };
  });

  registerRoute(app, deps, sessionRoutes.warmSandbox, async ({ body, caller }) => {
    const { organizationId } = caller;
    const { agentId, subjectId } = body;
    await getActiveAgent(db, organizationId, agentId);
    const key = { organizationId, agentId, subjectId };
    await deps.sandboxes.warm(key).catch((error: unknown) => {
      throw errors.unavailable('The sandbox cannot be prepared.', error);
    });
    await dropOrphan(deps, key);
    const warming = { object: 'sandbox.warm', status: 'warming', reason: null, agentId, subjectId };
    return { status: 202, body: warming };
  });
}
