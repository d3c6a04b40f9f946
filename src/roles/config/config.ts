import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { ConfigFile } from './config-file.ts';
import { DEFAULT_LOGIN_METHODS } from '../../login/contract/shapes.ts';
import { describeIssues } from '../../platform/contract/validation.ts';
import type { VideoEnginesConfig } from '../../video/contract/engines.ts';
import type { WebSearchConfig } from '../../agents/contract/web-search.ts';
import { StartupError, errorText } from '../../platform/errors.ts';
import { omitUndefined } from '../../platform/records.ts';
import { readBackupInterval } from '../../sandbox/resources/backup-interval.ts';
import { findKey, readAwsAccess, readGoogleAccess } from './credentials.ts';
import { readSettings } from './environment.ts';
import type { Environment, Settings } from './environment.ts';

export type Config = ReturnType<typeof readConfig>;

function readConfigFile(path: string | undefined): ConfigFile {
  const file = resolve(path ?? 'capstan.yaml');
  if (!existsSync(file)) {
    if (path === undefined) return ConfigFile.parse({});
    throw new StartupError(`Bad setting: CAPSTAN_CONFIG: no file at ${file}.`);
  }
  let document: unknown;
  try {
    document = parse(readFileSync(file, 'utf8')) ?? {};
  } catch (error) {
    throw new StartupError(`${file} is not YAML: ${errorText(error)}`);
  }
  const parsed = ConfigFile.safeParse(document);
  if (!parsed.success) throw new StartupError(`Bad setting in ${file}: ${describeIssues(parsed.error, 'file')}.`);
  return parsed.data;
}

/** The keys that a role uses; it starts without the others. */
function listNeededKeys(role: string | undefined, file: ConfigFile) {
  const isAll = role === undefined || role === 'all';
  return {
    providers:
      isAll || role === 'worker' || role === 'gateway' || (role === 'login' && file.login?.fallbackModel !== undefined),
    webSearch: isAll || role === 'worker',
    engines: isAll || role === 'worker' || role === 'video',
    people: isAll || role === 'api',
    hooks: isAll || role === 'gateway',
  };
}

/** A provider as the inference core takes it: its key found, wherever the file said it is. */
function readProviders(file: ConfigFile, settings: Settings, env: Environment, isNeeded: boolean) {
  const providers: ConfigFile['providers'] = {};
  if (settings.OPENAI_API_KEY !== undefined) {
    providers['openai'] = {
      format: 'chat-completions',
      baseUrl: settings.OPENAI_BASE_URL,
      timeoutSeconds: 600,
      apiKey: settings.OPENAI_API_KEY,
    };
  }
  if (settings.ANTHROPIC_API_KEY !== undefined) {
    providers['anthropic'] = {
      format: 'messages',
      baseUrl: withVersion(settings.ANTHROPIC_BASE_URL),
      timeoutSeconds: 600,
      apiKey: settings.ANTHROPIC_API_KEY,
    };
  }
  for (const [name, provider] of Object.entries(file.providers)) {
    const { apiKeyEnv } = provider;
    const owner = isNeeded && `Provider ${name}`;
    const apiKey = provider.apiKey ?? findKey(env, apiKeyEnv, owner);
    const apiKeys = provider.apiKeyEnvs?.flatMap((variable) => findKey(env, variable, owner) ?? []) ?? provider.apiKeys;
    const aws = provider.aws && readAwsAccess(provider.aws, env, owner);
    const google = provider.google && readGoogleAccess(provider.google, env, owner);
    providers[name] = { ...provider, ...omitUndefined({ apiKey, apiKeys, aws, google }) };
  }
  return providers;
}

/** Undefined: the worker calls the providers itself. */
function readGateway({ CAPSTAN_GATEWAY_URL: url, CAPSTAN_GATEWAY_KEY: apiKey }: Settings) {
  if (url === undefined) return undefined;
  if (apiKey === undefined) {
    throw new StartupError(
      'Bad setting: CAPSTAN_GATEWAY_URL needs CAPSTAN_GATEWAY_KEY, a key with the scope inference.',
    );
  }
  return { baseUrl: withVersion(url), apiKey };
}

/** Undefined if no collector is configured. */
function readOtel(settings: Settings) {
  const { OTEL_SERVICE_NAME: serviceName = 'capstan-gateway', OTEL_METRIC_EXPORT_INTERVAL: intervalMs } = settings;
  const url = findEndpoint(settings, settings.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT, 'metrics');
  return url === undefined ? undefined : { url, intervalMs, serviceName };
}

/** `url`: undefined where no collector is configured. */
function readTraces(settings: Settings) {
  return {
    url: findEndpoint(settings, settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, 'traces'),
    serviceName: settings.OTEL_SERVICE_NAME ?? 'capstan',
    content: settings.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT === 'true',
  };
}

/** The address of a signal at the collector: its own, or a path below the common one. */
function findEndpoint(settings: Settings, own: string | undefined, signal: string): string | undefined {
  const base = settings.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/(?<!\/)\/+$/, '');
  return own ?? (base === undefined ? undefined : `${base}/v1/${signal}`);
}

/** The identity provider of people, and the secret of this server there; undefined: people sign in with keys. */
function readOidc({ auth }: ConfigFile, env: Environment, isNeeded: boolean) {
  const config = auth?.oidc;
  if (config === undefined) return undefined;
  return { config, clientSecret: findKey(env, config.clientSecretEnv, isNeeded && 'auth.oidc') };
}

function readWebSearch({ webSearch }: ConfigFile, env: Environment, isNeeded: boolean): WebSearchConfig | undefined {
  if (webSearch?.apiKeyEnv === undefined) return webSearch;
  return { ...webSearch, ...omitUndefined({ apiKey: findKey(env, webSearch.apiKeyEnv, isNeeded && 'webSearch') }) };
}

function readVideoSettings({ video }: ConfigFile) {
  const { creditsPerSecond = {}, initialCredits = 1000, freeTierPaused = false, retentionDays = 30 } = video ?? {};
  return { creditsPerSecond, initialCredits, freeTierPaused, retentionDays };
}

/** Engines of videos as their adapters take them: each with its key found. */
function readVideoEngines({ video }: ConfigFile, env: Environment, isNeeded: boolean): VideoEnginesConfig {
  const found = Object.entries(video?.engines ?? {}).map(([name, engine]) => {
    if (engine.apiKeyEnv === undefined) return [name, engine] as const;
    const apiKey = findKey(env, engine.apiKeyEnv, isNeeded && `Video engine ${name}`);
    return [name, { ...engine, ...omitUndefined({ apiKey }) }] as const;
  });
  return Object.fromEntries(found);
}

/** Clients of the messages format name the host only; everywhere else here the version segment is part of the base. */
function withVersion(baseUrl: string): string {
  const trimmed = baseUrl.replace(/(?<!\/)\/+$/, '');
  return /\/v\d+$/.test(trimmed) ? trimmed : `${trimmed}/v1`;
}

const list = (value: string) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** Hooks of the gateway: each with its secret found and its module's path made absolute. */
function readHooks({ gateway: { hooks } }: ConfigFile, settings: Settings, env: Environment, isNeeded: boolean) {
  const folder = dirname(resolve(settings.CAPSTAN_CONFIG ?? 'capstan.yaml'));
  return hooks.map((hook) => {
    const secret = hook.secret ?? findKey(env, hook.secretEnv, isNeeded && `The hook ${hook.name}`);
    const module = hook.module && resolve(folder, hook.module);
    return { ...hook, ...omitUndefined({ secret, module }) };
  });
}

/** Where the API server is: what pods are told of it, where no kubeconfig is named. */
function readKubernetes({ KUBECONFIG, KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port }: Settings) {
  return KUBECONFIG !== undefined || host === undefined ? {} : { pod: { host, port } };
}

/** Of two sizes in Ki, Mi or Gi. Kubernetes refuses a pod that requests more than its limit. */
function smallerSize(left: string, right: string): string {
  const kibibytes = (size: string): number =>
    Number.parseInt(size, 10) * 1024 ** ['Ki', 'Mi', 'Gi'].indexOf(size.slice(-2));
  return kibibytes(left) <= kibibytes(right) ? left : right;
}

/** Undefined: no VolumeSnapshots are taken. */
function readBackup(settings: Settings) {
  const everyMs = readBackupInterval(settings.CAPSTAN_SANDBOX_BACKUP_HOURS);
  if (everyMs === undefined) return undefined;
  const snapshotClassName = settings.CAPSTAN_SANDBOX_SNAPSHOT_CLASS;
  return { everyMs, keep: settings.CAPSTAN_SANDBOX_BACKUP_KEEP, snapshotClassName };
}

/** How sandbox pods are made; `image` is undefined unless set. */
function readPodOptions(settings: Settings) {
  const [cpu = '', maxCpu = ''] = settings.CAPSTAN_SANDBOX_CPU.split(',');
  const [memory = '', maxMemory = ''] = settings.CAPSTAN_SANDBOX_MEMORY.split(',');
  const runtimeClassName = settings.CAPSTAN_SANDBOX_RUNTIME_CLASS;
  const scratch = settings.CAPSTAN_SANDBOX_SCRATCH;
  return {
    image: settings.CAPSTAN_SANDBOX_IMAGE,
    ...omitUndefined({ runtimeClassName }),
    userNamespaces: settings.CAPSTAN_SANDBOX_USER_NAMESPACES === 'on',
    clusterUids: settings.CAPSTAN_SANDBOX_CLUSTER_UIDS === 'on',
    requests: { cpu, memory, 'ephemeral-storage': smallerSize(settings.CAPSTAN_SANDBOX_SCRATCH_REQUEST, scratch) },
    limits: { cpu: maxCpu, memory: maxMemory, 'ephemeral-storage': scratch },
  };
}

/**
 * The only reader of the environment. Throws a `StartupError` that names the setting at fault. Keys that the role does
 * not use may be missing.
 */
export function readConfig(env: Environment, role?: string) {
  const settings = readSettings(env);
  const file = readConfigFile(settings.CAPSTAN_CONFIG);
  const needed = listNeededKeys(role, file);
  return {
    host: settings.CAPSTAN_HOST,
    port: settings.CAPSTAN_PORT,
    metricsPort: settings.CAPSTAN_METRICS_PORT,
    console: settings.CAPSTAN_CONSOLE === 'on',
    dataDir: resolve(settings.CAPSTAN_DATA_DIR),
    apiKey: settings.CAPSTAN_API_KEY,
    masterKey: settings.CAPSTAN_MASTER_KEY,
    masterKeyPrevious: settings.CAPSTAN_MASTER_KEY_PREVIOUS,
    databaseUrl: settings.DATABASE_URL,
    databasePool: settings.CAPSTAN_DATABASE_POOL,
    statementTimeoutMs: settings.CAPSTAN_STATEMENT_TIMEOUT * 1000,
    fsync: settings.CAPSTAN_FSYNC === 'on',
    storageFloor: {
      minBytes: settings.CAPSTAN_STORAGE_FLOOR_MIB * 1024 * 1024,
      minPercent: settings.CAPSTAN_STORAGE_FLOOR_PERCENT,
    },
    natsUrl: settings.NATS_URL,
    redisUrl: settings.REDIS_URL,
    objectsUrl: settings.CAPSTAN_OBJECTS,
    sandbox: settings.CAPSTAN_SANDBOX,
    sandboxNetwork: settings.CAPSTAN_SANDBOX_NETWORK,
    sandboxUids: settings.CAPSTAN_SANDBOX_UIDS,
    sandboxLimits: { ...file.sandbox, maxLive: settings.CAPSTAN_SANDBOX_MAX_LIVE ?? file.sandbox?.maxLive },
    sandboxUnwrapped: settings.CAPSTAN_SANDBOX_UNWRAPPED !== undefined,
    kubernetes: readKubernetes(settings),
    kubernetesNamespace: settings.CAPSTAN_KUBERNETES_NAMESPACE,
    sandboxClass: settings.CAPSTAN_SANDBOX_CLASS,
    sandboxIdleMs: settings.CAPSTAN_SANDBOX_IDLE_TIMEOUT * 1000,
    sandboxPod: readPodOptions(settings),
    storageClass: settings.CAPSTAN_SANDBOX_STORAGE_CLASS,
    backup: readBackup(settings),
    onLostClaim: settings.CAPSTAN_SANDBOX_ON_LOST_CLAIM,
    egressAllow: list(settings.CAPSTAN_EGRESS_ALLOW),
    bounds: {
      streamsPerKey: settings.CAPSTAN_STREAMS_PER_KEY,
      connections: settings.CAPSTAN_MAX_CONNECTIONS,
      idleConnectionsPerAddress: settings.CAPSTAN_IDLE_CONNECTIONS_PER_ADDRESS,
      unknownKeysPerMinute: settings.CAPSTAN_UNKNOWN_KEYS_PER_MINUTE,
    },
    corsOrigins: list(settings.CAPSTAN_CORS_ORIGINS),
    trustedProxies: list(settings.CAPSTAN_TRUSTED_PROXIES),
    login: {
      chromium: settings.CAPSTAN_CHROMIUM,
      searchPath: env['PATH'] ?? '',
      methods: file.login?.methods ?? DEFAULT_LOGIN_METHODS,
      fallbackModel: file.login?.fallbackModel,
      smtp: file.login?.smtp,
      concurrency: settings.CAPSTAN_LOGIN_CONCURRENCY,
    },
    customToolTimeoutMs: settings.CAPSTAN_CUSTOM_TOOL_TIMEOUT * 1000,
    mcpTimeoutMs: settings.CAPSTAN_MCP_TIMEOUT * 1000,
    maxSteps: settings.CAPSTAN_MAX_STEPS,
    workerConcurrency: settings.CAPSTAN_WORKER_CONCURRENCY,
    leaseMs: settings.CAPSTAN_LEASE_SECONDS * 1000,
    shutdownMs: settings.CAPSTAN_SHUTDOWN_SECONDS * 1000,
    logLevel: settings.CAPSTAN_LOG_LEVEL,
    providers: readProviders(file, settings, env, needed.providers),
    models: file.models,
    gateway: readGateway(settings),
    hooks: readHooks(file, settings, env, needed.hooks),
    otel: readOtel(settings),
    traces: readTraces(settings),
    oidc: readOidc(file, env, needed.people),
    webSearch: readWebSearch(file, env, needed.webSearch),
    video: {
      engines: readVideoEngines(file, env, needed.engines),
      settings: readVideoSettings(file),
      concurrency: settings.CAPSTAN_VIDEO_CONCURRENCY,
      publicUrl: settings.CAPSTAN_PUBLIC_URL,
    },
    file,
  };
}
