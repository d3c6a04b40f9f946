import { machine } from 'node:os';
import type { Registry } from 'prom-client';
import type { SandboxFacts } from '../agents/loop/turn/environment.ts';
import { buildGenerateVideoTool } from '../agents/tools/generate-video.ts';
import { buildTools } from '../agents/tools/builtin-tools.ts';
import type { Tool } from '../agents/tools/tool.ts';
import { buildWebsiteLoginTool } from '../agents/tools/website-login.ts';
import { StartupError } from '../platform/errors.ts';
import { listSessionBackends } from '../platform/http/health.ts';
import { openRegistry } from '../platform/http/metrics.ts';
import { buildHttpServer } from '../platform/http/server.ts';
import { openWeb } from '../agents/web/web.ts';
import { openAppender } from '../agents/worker/appender.ts';
import { WarmLogs } from '../agents/worker/warm-logs.ts';
import { startAutomations } from '../agents/automations/start.ts';
import { startWebhooks } from '../agents/worker/webhooks.ts';
import { startWorker } from '../agents/worker/start.ts';
import { omitUndefined } from '../platform/records.ts';
import { listPrograms } from '../sandbox/process/programs.ts';
import { openModels } from './models.ts';
import { startRetention } from './retention.ts';
import { openTraces } from './traces.ts';
import { DRAIN_MS, readServerOptions, serve } from './role.ts';
import type { RoleContext, Started } from './role.ts';

/** Opened at the first use: a worker whose agents never call it does not load it. */
function openOnce<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => (opened ??= open());
}

function buildServiceTools(context: RoleContext, registry: Registry): Tool[] {
  const generator = openOnce(async () => (await import('./video.ts')).openVideoGenerator(context));
  const accounts = openOnce(async () => (await import('./login.ts')).openWebsiteAccounts(context, registry));
  return [
    buildGenerateVideoTool({ generate: async (...wanted) => (await generator()).generate(...wanted) }),
    buildWebsiteLoginTool({ signIn: async (...wanted) => (await accounts()).signIn(...wanted) }),
  ];
}

/** Sandboxes of this machine use its programs; those of a cluster have an image of their own. */
function describeSandboxes({ sandbox, sandboxNetwork }: RoleContext['config']): SandboxFacts {
  if (sandbox === 'kubernetes') return { platform: 'Linux', network: 'policy', programs: [] };
  return { platform: `Linux (${machine()})`, network: sandboxNetwork, programs: listPrograms() };
}

export async function runWorker(context: RoleContext, registry: Registry): Promise<void> {
  const { config, backends, lifecycle, log } = context;
  const inference = await openModels(context);
  const { automations, turns, visionModel } = config.file;
  if (visionModel !== undefined && inference.findModel(visionModel)?.vision !== true) {
    throw new StartupError(`visionModel: ${visionModel} is no configured model that reads images.`);
  }
  const web = lifecycle.use('web', openWeb({ egress: backends.egress, search: config.webSearch }));
  const exporter = await openTraces(context);
  const worker = await startWorker(
    {
      ...backends,
      web,
      ...omitUndefined({ visionModel }),
      traces: exporter && { exporter, content: config.traces.content },
      sandboxFacts: describeSandboxes(config),
      inference,
      log,
      tools: new Map([...buildTools(), ...buildServiceTools(context, registry)].map((tool) => [tool.name, tool])),
      appender: openAppender(backends.db),
      warmLogs: new WarmLogs(),
      limits: {
        maxSteps: config.maxSteps,
        customToolTimeoutMs: config.customToolTimeoutMs,
        runApprovalMs: automations.approvalHours * 3_600_000,
        retryForMs: turns.retryForSeconds * 1000,
        silenceMs: turns.silenceSeconds * 1000,
      },
    },
    { concurrency: config.workerConcurrency, leaseMs: config.leaseMs, drainMs: DRAIN_MS, registry },
  );
  lifecycle.use('worker', worker);
  lifecycle.use('automations', startAutomations({ ...backends, log }));
  lifecycle.use('webhooks', startWebhooks({ ...backends, log }));
  lifecycle.use('retention', startRetention({ ...backends, log }, config.file.retention, config.file.audit));
}

/** Has no surface of its own, so it serves health and metrics alone. */
export async function startWorkerRole(context: RoleContext): Promise<Started> {
  const registry = openRegistry();
  await runWorker(context, registry);
  const { backends, log } = context;
  const ports = { ...backends, log };
  const app = buildHttpServer(
    { ...ports, registry, backends: listSessionBackends(ports) },
    [],
    // Probes and metrics do not hold up the handover of sessions.
    { ...readServerOptions(context), lingerMs: 0 },
  );
  return serve(context, 'health', app);
}
