import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { buildTools } from '../../src/agents/tools/builtin-tools.ts';
import type { Tool } from '../../src/agents/tools/tool.ts';
import { startApi } from '../../src/agents/api/start.ts';
import { openMemoryBus } from '../../src/platform/bus/memory.ts';
import { openNats } from '../../src/platform/bus/nats.ts';
import { openMemoryLimits } from '../../src/platform/limits/memory.ts';
import { openRedis } from '../../src/platform/limits/redis.ts';
import type { Objects } from '../../src/platform/objects/objects.ts';
import { openFiles } from '../../src/platform/objects/files.ts';
import type { Db } from '../../src/platform/db/db.ts';
import { openProcessSandboxes } from '../../src/sandbox/process/process.ts';
import type { ProviderModel, ProvidersConfig, UpstreamFormat } from '../../src/inference/config.ts';
import { SCOPES } from '../../src/platform/contract/keys.ts';
import type { WebSearchConfig } from '../../src/agents/contract/web-search.ts';
import { openInference } from '../../src/inference/inference.ts';
import type { Inference } from '../../src/inference/model.ts';
import { openLog } from '../../src/platform/log.ts';
import type { Logger } from '../../src/platform/log.ts';
import type { TurnTraces } from '../../src/agents/worker/traces.ts';
import { createKey } from '../../src/platform/store/keys.ts';
import { openAppender } from '../../src/agents/worker/appender.ts';
import { WarmLogs } from '../../src/agents/worker/warm-logs.ts';
import type { SandboxFacts } from '../../src/agents/loop/turn/environment.ts';
import { startWebhooks } from '../../src/agents/worker/webhooks.ts';
import { startWorker } from '../../src/agents/worker/start.ts';
import { openWeb } from '../../src/agents/web/web.ts';
import { omitUndefined } from '../../src/platform/records.ts';
import { buildApi } from './chat.ts';
import type { Api } from './chat.ts';
import { openEmbeddedDatabase, openPostgresDatabase } from './database.ts';
import { findService } from './find-service.ts';
import { makeScratch } from './scratch.ts';
import { startServiceModel } from './service-model.ts';
import type { ServiceModel } from './service-model.ts';
import { openTestVaults } from './vaults.ts';

export type ServiceOptions = {
  /** what the upstream speaks; default chat-completions */
  format?: UpstreamFormat;
  /** how many of each, default 1; each has backends of its own where those are servers */
  apis?: number;
  workers?: number;
  customToolTimeoutMs?: number;
  runApprovalMs?: number;
  maxSteps?: number;
  /** how long a turn repeats a failing model call, and when a silent upstream has failed */
  retryForMs?: number;
  silenceMs?: number;
  webSearch?: WebSearchConfig;
  visionModel?: string;
  sandboxFacts?: SandboxFacts;
  /** how the workers call models; absent: straight */
  openInference?: (providers: ProvidersConfig) => Promise<Inference>;
  /** beside the product's own */
  tools?: Tool[];
  /** where the spans of turns go */
  traces?: TurnTraces;
  /** receives the lines of the log; absent: nobody */
  log?: Logger;
};

/** URLs of the servers to run on; without them, everything is embedded. */
export type Servers = { postgres: string; nats: string; redis: string };

export type Service = {
  /** the first of `apis` */
  api: Api;
  apis: Api[];
  /** of the service, for what no route does */
  db: Db;
  model: ServiceModel;
  key: string;
  objects: Objects;
  close(): Promise<void>;
};

/**
 * Tokens that `acme/small` can read, and dollars per million of them. `acme/free` has no price, `acme/blind` no vision.
 */
export const MODELS: ProviderModel[] = [
  { id: 'small', contextWindow: 32_000, price: { input: 1, output: 10, cacheRead: 0.1 } },
  { id: 'free', contextWindow: 32_000 },
  { id: 'blind', contextWindow: 32_000, vision: false },
];

/** The servers of the run, or undefined with the reason printed. */
export async function findServers(): Promise<Servers | undefined> {
  const [postgres, nats, redis] = await Promise.all([
    findService('postgres'),
    findService('nats'),
    findService('redis'),
  ]);
  if (postgres === undefined || nats === undefined || redis === undefined) return undefined;
  return { postgres, nats, redis };
}

/** The whole service in this process, as `all` is wired, behind real HTTP and in front of a real provider. */
export async function startService(options: ServiceOptions = {}, servers?: Servers): Promise<Service> {
  const closers: (() => unknown)[] = [];
  const use = <T extends { close(): unknown }>(part: T): T => {
    closers.unshift(() => part.close());
    return part;
  };
  const { traces, visionModel, sandboxFacts } = options;
  const folder = makeScratch('flow');
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  const log = options.log ?? openLog({ level: process.env['CAPSTAN_LOG_LEVEL'] ?? 'silent', pretty: false });
  const database = use(
    servers === undefined ? await openEmbeddedDatabase() : await openPostgresDatabase(servers.postgres),
  );
  const { db } = database;
  const model = use(await startServiceModel());
  const memory = servers === undefined ? { bus: use(openMemoryBus()), limits: use(openMemoryLimits()) } : undefined;
  const openShared = async () =>
    servers === undefined || memory !== undefined
      ? memory!
      : { bus: use(await openNats({ url: servers.nats })), limits: use(await openRedis({ url: servers.redis })) };
  const objects = use(await openFiles({ dir: join(folder, 'objects') }));
  const openPorts = async (name: string) => ({
    db,
    objects,
    ...(await openShared()),
    log,
    sandboxes: use(
      await openProcessSandboxes({
        dir: join(folder, name),
        network: 'none',
        rgPath,
        allowUnwrapped: false,
        log,
      }),
    ),
  });
  const providers = {
    acme: {
      format: options.format ?? 'chat-completions',
      baseUrl: model.url,
      timeoutSeconds: 20,
      apiKey: 'k',
      models: MODELS,
    },
  } as const;
  const open =
    options.openInference ?? ((all) => openInference({ providers: all, models: {}, log, retry: { baseMs: 1 } }));
  const inference = use(await open(providers));
  const tools = new Map([...buildTools(), ...(options.tools ?? [])].map((tool) => [tool.name, tool]));
  for (let number = 0; number < (options.workers ?? 1); number += 1) {
    const ports = await openPorts(`worker-${number}`);
    const limits = {
      maxSteps: options.maxSteps ?? 20,
      customToolTimeoutMs: options.customToolTimeoutMs ?? 300_000,
      runApprovalMs: options.runApprovalMs ?? 86_400_000,
      retryForMs: options.retryForMs ?? 30_000,
      silenceMs: options.silenceMs ?? 20_000,
    };
    const vaults = openTestVaults(db);
    const deps = {
      ...ports,
      ...vaults,
      web: use(openWeb({ egress: vaults.egress, search: options.webSearch })),
      inference,
      tools,
      appender: openAppender(db),
      warmLogs: new WarmLogs(),
      limits,
      ...omitUndefined({ traces, visionModel, sandboxFacts }),
    };
    use(startWebhooks(deps));
    use(await startWorker(deps, { concurrency: 16, leaseMs: 5000, drainMs: 1000 }));
  }
  const { key } = await createKey(db, {
    name: 'test',
    organization: 'default',
    scopes: [...SCOPES],
    requestsPerMinute: 1_000_000,
  });
  const apis: Api[] = [];
  for (let number = 0; number < (options.apis ?? 1); number += 1) {
    const ports = await openPorts(`api-${number}`);
    const apiPorts = { ...ports, ...openTestVaults(db), models: new Set<string>() };
    const server = use(await startApi(apiPorts, { host: '127.0.0.1', port: 0 }));
    apis.push(buildApi(server.address, key, 'acme/small'));
  }
  const [api] = apis;
  if (api === undefined) throw new Error('a service needs an API');
  return {
    api,
    apis,
    model,
    db,
    key,
    objects,
    async close() {
      for (const close of closers) await close();
    },
  };
}
