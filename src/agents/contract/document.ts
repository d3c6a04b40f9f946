import { agentExamples, mcpExamples, memoryExamples, subjectExamples } from './examples/agents.ts';
import { demoExamples } from './examples/demo.ts';
import { fileExamples } from './examples/files.ts';
import { automationExamples, eventExamples, sessionExamples } from './examples/sessions.ts';
import { pendingActionExamples } from './examples/pending-actions.ts';
import { auditExamples, keyExamples, signInExamples } from './examples/keys.ts';
import { vaultExamples } from './examples/vaults.ts';
import { AGENT_ERRORS, buildOpenApi } from '../../platform/contract/openapi.ts';
import type { ErrorCode } from '../../platform/contract/errors.ts';
import type { Route } from '../../platform/contract/route.ts';
import { agentRoutes } from './routes/agents.ts';
import { fileRoutes } from './routes/files.ts';
import { automationRoutes } from './routes/automations.ts';
import { budgetRoutes } from '../../platform/contract/budgets.ts';
import { budgetExamples } from '../../platform/contract/examples/budgets.ts';
import { webhookExamples } from '../../platform/contract/examples/webhooks.ts';
import { webhookRoutes } from '../../platform/contract/webhooks.ts';
import { keyRoutes } from '../../platform/contract/key-routes.ts';
import { auditRoutes } from '../../platform/contract/audit.ts';
import { signInRoutes } from '../../platform/contract/sign-ins.ts';
import { demoRoutes } from './demo.ts';
import { memoryRoutes } from './routes/memory.ts';
import { pendingActionRoutes } from './routes/pending-actions.ts';
import { eventRoutes, sessionRoutes } from './routes/sessions.ts';
import { subjectRoutes } from './routes/subjects.ts';
import { mcpRoutes } from './routes/mcp.ts';
import { vaultRoutes } from './routes/vaults.ts';

/** Every operation of the agent service. */
export const AGENT_SERVICE_ROUTES: readonly Route<ErrorCode>[] = [
  ...Object.values(agentRoutes),
  ...Object.values(sessionRoutes),
  ...Object.values(eventRoutes),
  ...Object.values(pendingActionRoutes),
  ...Object.values(automationRoutes),
  ...Object.values(memoryRoutes),
  ...Object.values(fileRoutes),
  ...Object.values(subjectRoutes),
  ...Object.values(vaultRoutes),
  ...Object.values(mcpRoutes),
  ...Object.values(keyRoutes),
  ...Object.values(webhookRoutes),
  ...Object.values(budgetRoutes),
  ...Object.values(signInRoutes),
  ...Object.values(auditRoutes),
  ...Object.values(demoRoutes),
];

/** Examples by operation id. */
export const AGENT_SERVICE_EXAMPLES = {
  ...agentExamples,
  ...sessionExamples,
  ...eventExamples,
  ...pendingActionExamples,
  ...automationExamples,
  ...memoryExamples,
  ...fileExamples,
  ...subjectExamples,
  ...vaultExamples,
  ...mcpExamples,
  ...keyExamples,
  ...webhookExamples,
  ...budgetExamples,
  ...signInExamples,
  ...auditExamples,
  ...demoExamples,
};

export function buildAgentsDocument(): Record<string, unknown> {
  return buildOpenApi({
    title: 'Capstan agent service',
    apiVersion: '1.0.0',
    routes: AGENT_SERVICE_ROUTES,
    examples: AGENT_SERVICE_EXAMPLES,
    errors: AGENT_ERRORS,
  });
}
