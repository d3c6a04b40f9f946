import { buildOpenApi } from './openapi.ts';
import type { Route } from './route.ts';
import { agentRoutes } from './routes/agents.ts';
import { fileRoutes } from './routes/files.ts';
import { automationRoutes } from './routes/automations.ts';
import { keyRoutes } from './routes/keys.ts';
import { memoryRoutes } from './routes/memory.ts';
import { eventRoutes, sessionRoutes } from './routes/sessions.ts';
import { mcpRoutes } from './routes/mcp.ts';
import { vaultRoutes } from './routes/vaults.ts';

/** Every operation of the agent service. */
export const AGENT_SERVICE_ROUTES: readonly Route[] = [
  ...Object.values(agentRoutes),
  ...Object.values(sessionRoutes),
  ...Object.values(eventRoutes),
  ...Object.values(automationRoutes),
  ...Object.values(memoryRoutes),
  ...Object.values(fileRoutes),
  ...Object.values(vaultRoutes),
  ...Object.values(mcpRoutes),
  ...Object.values(keyRoutes),
];

export function buildAgentsDocument(): Record<string, unknown> {
  return buildOpenApi({ title: 'Capstan agent service', version: '1.0.0', routes: AGENT_SERVICE_ROUTES });
}
