import { buildTools } from './agent/tools/table.ts';
import { startApi } from './api/start.ts';
import type { Config } from './config.ts';
import type { Backends } from './deps.ts';
import { StartupError } from './errors.ts';
import { openInference } from './inference/inference.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Logger } from './log.ts';
import { openAppender } from './worker/appender.ts';
import { startAutomations } from './worker/automations/start.ts';
import { startWorker } from './worker/start.ts';

export type RoleContext = { config: Config; backends: Backends; lifecycle: Lifecycle; log: Logger };

/** What a role serves, for the line that is printed at start. */
export type Started = { address?: string };

const DRAIN_MS = 10_000;

async function serveApi({ config, backends, lifecycle, log }: RoleContext): Promise<Started> {
  const server = await startApi(
    {
      ...backends,
      log,
      models: { has: (name) => Object.hasOwn(config.models, name) },
      mcpCatalog: config.file.mcpCatalog,
    },
    { host: config.host, port: config.port, corsOrigins: config.corsOrigins },
  );
  lifecycle.use('api', server);
  return { address: server.address };
}

async function runWorker({ config, backends, lifecycle, log }: RoleContext): Promise<Started> {
  const inference = lifecycle.use(
    'inference',
    openInference({ providers: config.providers, models: config.models, log }),
  );
  const worker = await startWorker(
    {
      ...backends,
      inference,
      log,
      tools: new Map(buildTools().map((tool) => [tool.name, tool])),
      appender: openAppender(backends.db),
      limits: { maxSteps: config.maxSteps, customToolTimeoutMs: config.customToolTimeoutMs },
    },
    { concurrency: config.workerConcurrency, leaseMs: config.leaseMs, drainMs: DRAIN_MS },
  );
  lifecycle.use('worker', worker);
  lifecycle.use('automations', startAutomations({ ...backends, log }));
  return {};
}

/** One process, one role; `all` is every role in one process. */
const ROLES = {
  api: serveApi,
  worker: runWorker,
  // The worker is closed after the API, so that what was accepted last can still be watched to its end.
  all: async (context: RoleContext) => {
    await runWorker(context);
    return serveApi(context);
  },
} as const;

export type RoleName = keyof typeof ROLES;

export function readRole(name: string | undefined): RoleName {
  if (name !== undefined && Object.hasOwn(ROLES, name)) return name as RoleName;
  throw new StartupError(`Usage: node src/main.ts <role>, where the role is one of ${Object.keys(ROLES).join(', ')}.`);
}

export function startRole(name: RoleName, context: RoleContext): Promise<Started> {
  return ROLES[name](context);
}
