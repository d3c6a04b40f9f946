import type { ApiPorts } from '../agents/api/deps.ts';
import { buildServer } from '../agents/api/server.ts';
import { readServerOptions, serve } from './role.ts';
import type { RoleContext, Started } from './role.ts';
import { buildWebRoutes } from './web.ts';

export function buildApiPorts({ config, backends, log }: RoleContext): ApiPorts {
  const models = { has: (name: string) => Object.hasOwn(config.models, name) };
  return { ...backends, log, models, mcpCatalog: config.file.mcpCatalog };
}

export function startApi(context: RoleContext): Promise<Started> {
  return serve(
    context,
    'api',
    buildServer(buildApiPorts(context), readServerOptions(context), buildWebRoutes(context)),
  );
}
