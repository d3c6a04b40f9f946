import type { FastifyInstance } from 'fastify';
import { registerBodyParser } from '../../platform/http/body.ts';
import { buildAgentsDocument } from '../contract/document.ts';
import { buildDocsRoutes } from '../../platform/http/docs/docs-routes.ts';
import { listSessionBackends } from '../../platform/http/health.ts';
import { buildHttpServer } from '../../platform/http/server.ts';
import type { ServerOptions, RoutePlugin } from '../../platform/http/server.ts';
import { registerAgentRoutes } from './agents/agent-routes.ts';
import { registerAutomationRoutes } from './automations/automation-routes.ts';
import type { ApiDeps, ApiPorts } from './deps.ts';
import { registerDemoRoutes } from './demo/demo-routes.ts';
import { registerEventRoutes } from './events/event-routes.ts';
import { registerFileRoutes } from './files/file-routes.ts';
import { registerBudgetRoutes } from '../../platform/http/budget-routes.ts';
import { sendWake } from '../channels.ts';
import { resumePausedSessions } from '../store/budget-stops.ts';
import { registerWebhookRoutes } from '../../platform/http/webhook-routes.ts';
import { registerKeyRoutes } from '../../platform/http/key-routes.ts';
import { registerAuditRoutes } from '../../platform/http/audit/audit-routes.ts';
import { registerSignInRoutes } from '../../platform/http/sign-in-routes.ts';
import { registerMcpRoutes } from './mcp/mcp-routes.ts';
import { registerMemoryRoutes } from './memory/memory-routes.ts';
import { registerPendingActionRoutes } from './pending-actions/pending-action-routes.ts';
import { registerSessionRoutes } from './sessions/session-routes.ts';
import { SubjectActivity } from './subjects/activity.ts';
import { registerSubjectRoutes } from './subjects/subject-routes.ts';
import { registerVaultRoutes } from './vaults/vault-routes.ts';

/** The agent service's routes. */
export function buildApiSurface(ports: ApiPorts): RoutePlugin {
  return (app, http) => {
    const deps: ApiDeps = { ...ports, ...http, subjectActivity: new SubjectActivity(ports.db, ports.log) };
    registerBodyParser(app);
    registerSignInRoutes(app, deps);
    registerAuditRoutes(app, deps);
    registerKeyRoutes(app, deps);
    registerWebhookRoutes(app, deps);
    registerBudgetRoutes(app, {
      ...deps,
      resumeSessions: resumePausedSessions,
      wake: (ids) => ids.forEach((id) => sendWake(deps.bus, id)),
    });
    registerAgentRoutes(app, deps);
    registerSessionRoutes(app, deps);
    registerEventRoutes(app, deps);
    registerPendingActionRoutes(app, deps);
    registerFileRoutes(app, deps);
    registerVaultRoutes(app, deps);
    registerMcpRoutes(app, deps);
    registerAutomationRoutes(app, deps);
    registerMemoryRoutes(app, deps);
    registerSubjectRoutes(app, deps);
    registerDemoRoutes(app, deps);
  };
}

/** The API role's HTTP server, not yet listening. Closing it ends its streams; the ports stay open. */
export function buildServer(
  ports: ApiPorts,
  options: ServerOptions = {},
  others: readonly RoutePlugin[] = [],
): FastifyInstance {
  const surfaces = [buildApiSurface(ports), buildDocsRoutes({ agents: buildAgentsDocument }), ...others];
  return buildHttpServer({ ...ports, backends: listSessionBackends(ports) }, surfaces, options);
}
