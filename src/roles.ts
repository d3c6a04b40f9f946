import { buildTools } from './agent/tools/table.ts';
import type { ApiPorts } from './api/deps.ts';
import { buildApiSurface, buildServer, listBackends } from './api/server.ts';
import type { Config } from './config.ts';
import { buildAgentsDocument } from './contract/documents.ts';
import { buildInferenceDocument, joinDocuments } from './contract/inference/document.ts';
import type { Backends } from './deps.ts';
import { StartupError } from './errors.ts';
import type { GatewayPorts } from './gateway/deps.ts';
import { buildGatewaySurface } from './gateway/register.ts';
import { buildGateway } from './gateway/server.ts';
import { buildHttpServer } from './http/server.ts';
import type { HttpServer, ServerOptions } from './http/server.ts';
import { startHttp } from './http/start.ts';
import { openInference } from './inference/inference.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Logger } from './log.ts';
import { openAppender } from './worker/appender.ts';
import { startAutomations } from './worker/automations/start.ts';
import { startWorker } from './worker/start.ts';
import { openWeb } from './web/web.ts';

export type RoleContext = { config: Config; backends: Backends; lifecycle: Lifecycle; log: Logger };

/** What a role serves, for the line that is printed at start. */
export type Started = { address?: string };

const DRAIN_MS = 10_000;

/** Clients of the gateway try again by themselves, so it does so less than the worker. */
const GATEWAY_RETRY = { attempts: 2, baseMs: 250, maxMs: 5000 };

function buildApiPorts({ config, backends, log }: RoleContext): ApiPorts {
  const models = { has: (name: string) => Object.hasOwn(config.models, name) };
  return { ...backends, log, models, mcpCatalog: config.file.mcpCatalog };
}

function openGatewayPorts({ config, backends, lifecycle, log }: RoleContext): GatewayPorts {
  const { providers, models } = config;
  const inference = lifecycle.use(
    'gateway inference',
    openInference({ providers, models, log, retry: GATEWAY_RETRY, breaker: {}, affinity: true }),
  );
  return { ...backends, log, inference, tokensPerDay: config.file.limits?.tokensPerDay };
}

async function serve({ config, lifecycle }: RoleContext, name: string, app: HttpServer): Promise<Started> {
  const { host, port } = config;
  const server = lifecycle.use(name, await startHttp(app, { host, port }));
  return { address: server.address };
}

function serverOptions({ config }: RoleContext): ServerOptions {
  return { corsOrigins: config.corsOrigins };
}

async function serveAll(context: RoleContext): Promise<Started> {
  const ports = buildApiPorts(context);
  const document = () => joinDocuments('Capstan', [buildAgentsDocument(), buildInferenceDocument()]);
  const surfaces = [buildApiSurface(ports, document), buildGatewaySurface(openGatewayPorts(context))];
  return serve(
    context,
    'server',
    buildHttpServer({ ...ports, backends: listBackends(ports) }, surfaces, serverOptions(context)),
  );
}

async function runWorker({ config, backends, lifecycle, log }: RoleContext): Promise<Started> {
  const inference = lifecycle.use(
    'inference',
    openInference({ providers: config.providers, models: config.models, log }),
  );
  const { visionModel } = config.file;
  if (visionModel !== undefined && inference.findModel(visionModel)?.vision !== true) {
    throw new StartupError(`visionModel: ${visionModel} is no configured model that reads images.`);
  }
  const web = lifecycle.use('web', openWeb({ egress: backends.egress, search: config.webSearch }));
  const worker = await startWorker(
    {
      ...backends,
      web,
      ...(visionModel === undefined ? {} : { visionModel }),
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

/** Speaks to the API server of the cluster and to nothing else, so it is started without backends. */
export async function runOperator({ config, lifecycle, log }: Omit<RoleContext, 'backends'>): Promise<Started> {
  const { image, ...pod } = config.sandboxPod;
  if (image === undefined) throw new StartupError('The role operator needs CAPSTAN_SANDBOX_IMAGE.');
  // Its SDK costs half a second to load, so only this role does.
  const { openKubernetes } = await import('./kubernetes/client.ts');
  const { startOperator } = await import('../operator/start.ts');
  const kubernetes = lifecycle.use('kubernetes', openKubernetes());
  const namespace = config.kubernetesNamespace ?? kubernetes.namespace ?? 'default';
  const { host, port, storageClass } = config;
  const storage = storageClass === undefined ? {} : { storageClassName: storageClass };
  const operator = await startOperator(
    { kubernetes, log },
    { namespace, host, port, idleMs: config.sandboxIdleMs, pod: { ...pod, image }, ...storage },
  );
  return { address: lifecycle.use('operator', operator).address };
}

/** One process, one role; `all` is every role but the operator in one process. */
const ROLES = {
  api: (context: RoleContext) => serve(context, 'api', buildServer(buildApiPorts(context), serverOptions(context))),
  gateway: (context: RoleContext) =>
    serve(context, 'gateway', buildGateway(openGatewayPorts(context), serverOptions(context))),
  worker: runWorker,
  // The worker is closed after the API, so that what was accepted last can still be watched to its end.
  all: async (context: RoleContext) => {
    await runWorker(context);
    return serveAll(context);
  },
} as const;

export type RoleName = keyof typeof ROLES;

export function readRole(name: string | undefined): RoleName | 'operator' {
  if (name === 'operator') return name;
  if (name !== undefined && Object.hasOwn(ROLES, name)) return name as RoleName;
  const names = [...Object.keys(ROLES), 'operator'].join(', ');
  throw new StartupError(`Usage: node src/main.ts <role>, where the role is one of ${names}.`);
}

export function startRole(name: RoleName, context: RoleContext): Promise<Started> {
  return ROLES[name](context);
}
