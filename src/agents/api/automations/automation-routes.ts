import type { FastifyInstance } from 'fastify';
import { buildAnyList, buildCursorList } from '../../../platform/contract/common.ts';
import { automationRoutes } from '../../contract/routes/automations.ts';
import { errors } from '../../../platform/errors.ts';
import type { Subject } from '../../store/approvals.ts';
import { deleteAutomation, findAutomation, listAutomations } from '../../store/automations.ts';
import { listSubjects } from '../../store/subjects.ts';
import { listAutomationSessions } from '../../store/sessions.ts';
import { getActiveAgent, getAgent } from '../agents/find.ts';
import type { Caller } from '../../../platform/http/deps.ts';
import type { ApiDeps } from '../deps.ts';
import { registerRoute } from '../../../platform/http/route.ts';
import { createAutomation, patchAutomation, triggerAutomation } from './change.ts';
import { buildAutomation } from './render.ts';

type Params = { agentId: string; subjectId: string };

export function registerAutomationRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  const subjectOf = (caller: Caller, { agentId, subjectId }: Params): Subject => ({
    organizationId: caller.organizationId,
    agentId,
    subjectId,
  });
  const getAutomation = async (caller: Caller, params: Params & { automationId: string }) => {
    const automation = await findAutomation(db, subjectOf(caller, params), params.automationId);
    if (automation === undefined) throw errors.notFound('automation');
    return automation;
  };
  /** The agent must be there and active: its runs could not start otherwise. */
  const getRunnable = async (caller: Caller, params: Params) => ({
    agent: await getActiveAgent(db, caller.organizationId, params.agentId),
    subject: subjectOf(caller, params),
  });

  registerRoute(app, deps, automationRoutes.listOrganizationAutomations, async ({ query, caller }) => {
    const { agentId = null, subjectId = null, ...page } = query;
    const scope = { organizationId: caller.organizationId, agentId, subjectId };
    const { rows, nextCursor } = await listAutomations(db, scope, page);
    return { status: 200, body: buildCursorList(rows.map(buildAutomation), query, nextCursor) };
  });

  registerRoute(app, deps, automationRoutes.listSubjects, async ({ query, caller }) => {
    const { rows, nextCursor } = await listSubjects(db, caller.organizationId, query);
    return { status: 200, body: buildCursorList(rows, query, nextCursor) };
  });

  registerRoute(app, deps, automationRoutes.listAgentAutomations, async ({ params, query, caller }) => {
    const agent = await getAgent(db, caller.organizationId, params.agentId);
    const scope = { organizationId: caller.organizationId, agentId: agent.id, subjectId: null };
    const found = await listAutomations(db, scope, query);
    return { status: 200, body: buildAnyList(found.rows.map(buildAutomation), query, found) };
  });

  registerRoute(app, deps, automationRoutes.listAutomations, async ({ params, query, caller }) => {
    await getAgent(db, caller.organizationId, params.agentId);
    const found = await listAutomations(db, subjectOf(caller, params), query);
    return { status: 200, body: buildAnyList(found.rows.map(buildAutomation), query, found) };
  });

  registerRoute(app, deps, automationRoutes.createAutomation, async ({ params, body, caller }) => {
    const { agent, subject } = await getRunnable(caller, params);
    return { status: 201, body: buildAutomation(await createAutomation(deps, agent, subject, body)) };
  });

  registerRoute(app, deps, automationRoutes.getAutomation, async ({ params, caller }) => ({
    status: 200,
    body: buildAutomation(await getAutomation(caller, params)),
  }));

  registerRoute(app, deps, automationRoutes.patchAutomation, async ({ params, body, caller }) => {
    const { agent, subject } = await getRunnable(caller, params);
    const automation = await patchAutomation(deps, { agent, subject, id: params.automationId }, body);
    return { status: 200, body: buildAutomation(automation) };
  });

  registerRoute(app, deps, automationRoutes.deleteAutomation, async ({ params, caller }) => {
    const deleted = await deleteAutomation(db, subjectOf(caller, params), params.automationId);
    if (!deleted) throw errors.notFound('automation');
    return { status: 200, body: { object: 'automation.deleted', id: params.automationId, deleted: true } };
  });

  registerRoute(app, deps, automationRoutes.pauseAutomation, async ({ params, caller }) => {
    const agent = await getAgent(db, caller.organizationId, params.agentId);
    const target = { agent, subject: subjectOf(caller, params), id: params.automationId };
    const automation = await patchAutomation(deps, target, { enabled: false });
    return { status: 200, body: buildAutomation(automation) };
  });

  registerRoute(app, deps, automationRoutes.resumeAutomation, async ({ params, caller }) => {
    const { agent, subject } = await getRunnable(caller, params);
    const automation = await patchAutomation(deps, { agent, subject, id: params.automationId }, { enabled: true });
    return { status: 200, body: buildAutomation(automation) };
  });

  registerRoute(app, deps, automationRoutes.triggerAutomation, async ({ params, caller }) => {
    const { agent, subject } = await getRunnable(caller, params);
    const { automationId } = params;
    const sessionId = await triggerAutomation(deps, agent, subject, automationId);
    return { status: 202, body: { object: 'automation.run', automationId, sessionId } };
  });

  registerRoute(app, deps, automationRoutes.listAutomationSessions, async ({ params, query, caller }) => {
    const automation = await getAutomation(caller, params);
    const found = await listAutomationSessions(db, automation, query);
    return { status: 200, body: buildAnyList(found.rows, query, found) };
  });
}
