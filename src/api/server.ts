import type { FastifyInstance } from 'fastify';
import { registerBodyParser } from '../http/body.ts';
import { buildHttpServer } from '../http/server.ts';
import type { ServerOptions, Surface } from '../http/server.ts';
import { registerAgentRoutes } from './agents/register.ts';
import { registerAutomationRoutes } from './automations/register.ts';
import type { ApiDeps, ApiPorts } from './deps.ts';
import { registerDocs } from './docs/register.ts';
import { registerEventRoutes } from './events/register.ts';
import { registerFileRoutes } from './files/register.ts';
import { registerKeyRoutes } from './keys/register.ts';
import { registerMcpRoutes } from './mcp/register.ts';
import { registerMemoryRoutes } from './memory/register.ts';
import { registerSessionRoutes } from './sessions/register.ts';
import { registerVaultRoutes } from './vaults/register.ts';

/** What `/readyz` asks on behalf of the agent service. */
export function listBackends({ sandboxes, objects }: ApiPorts): Record<string, { ping(): Promise<void> }> {
  return { sandbox: sandboxes, ...(objects === undefined ? {} : { objects }) };
}

/** The agent service's routes. `buildWhole` makes the document of everything that the server serves beside it. */
export function buildApiSurface(ports: ApiPorts, buildWhole?: () => Record<string, unknown>): Surface {
  return (app, http) => {
    const deps: ApiDeps = { ...ports, ...http };
    registerBodyParser(app);
    registerDocs(app, buildWhole);
    registerKeyRoutes(app, deps);
    registerAgentRoutes(app, deps);
    registerSessionRoutes(app, deps);
    registerEventRoutes(app, deps);
    registerFileRoutes(app, deps);
    registerVaultRoutes(app, deps);
    registerMcpRoutes(app, deps);
    registerAutomationRoutes(app, deps);
    registerMemoryRoutes(app, deps);
  };
}

/** The API role's HTTP server, not yet listening. Closing it ends its streams; the ports stay open. */
export function buildServer(ports: ApiPorts, options: ServerOptions = {}): FastifyInstance {
  return buildHttpServer({ ...ports, backends: listBackends(ports) }, [buildApiSurface(ports)], options);
}
