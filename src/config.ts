import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { ConfigFile } from './contract/config-file.ts';
import { describeIssues } from './contract/validation.ts';
import type { WebSearchConfig } from './contract/web-search.ts';
import { StartupError, errorText } from './errors.ts';

const port = z.coerce.number().int().min(0).max(65_535);
const seconds = z.coerce.number().positive().max(86_400);
const count = z.coerce.number().int().min(1).max(10_000);
const text = z.string().min(1);

/** What a pod asks for and what it may use at most, with a comma between. */
const amounts = (one: RegExp) =>
  z.string().refine((value) => {
    const parts = value.split(',');
    return parts.length === 2 && parts.every((part) => one.test(part));
  }, 'must be two amounts with a comma between: what a pod asks for, and what it may use');

/** Every setting read from the environment; the table in docs/configuration.md follows it. */
const Settings = z.object({
  CAPSTAN_HOST: text.default('127.0.0.1'),
  CAPSTAN_PORT: port.default(8080),
  CAPSTAN_DATA_DIR: text.default('./data'),
  CAPSTAN_API_KEY: z
    .string()
    .max(256)
    .regex(/^[\x21-\x7e]+$/, 'must hold visible ASCII only')
    .optional(),
  CAPSTAN_CONFIG: text.optional(),
  CAPSTAN_MASTER_KEY: z
    .string()
    .refine((value) => Buffer.from(value, 'base64').length === 32, 'must be 32 bytes in base64')
    .optional(),
  /** opens what it once sealed; everything is sealed anew by the current one at start */
  CAPSTAN_MASTER_KEY_PREVIOUS: z
    .string()
    .refine((value) => Buffer.from(value, 'base64').length === 32, 'must be 32 bytes in base64')
    .optional(),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must start with postgres://')
    .optional(),
  NATS_URL: z
    .string()
    .regex(/^(nats|tls):\/\//, 'must start with nats://')
    .optional(),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, 'must start with redis://')
    .optional(),
  CAPSTAN_OBJECTS: z
    .string()
    .regex(/^s3:\/\//, 'must start with s3://')
    .optional(),
  CAPSTAN_SANDBOX: z.enum(['process', 'kubernetes']).default('process'),
  CAPSTAN_SANDBOX_NETWORK: z.enum(['none', 'host']).default('none'),
  /** runs tools without isolation where bubblewrap cannot run */
  CAPSTAN_SANDBOX_UNWRAPPED: z.literal('i-accept-the-risk').optional(),
  /** where Sessions and Volumes are; the kubeconfig's or the pod's own unless set */
  CAPSTAN_KUBERNETES_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be the name of a namespace')
    .optional(),
  CAPSTAN_SANDBOX_IMAGE: text.optional(),
  CAPSTAN_SANDBOX_IDLE_TIMEOUT: seconds.default(900),
  CAPSTAN_SANDBOX_RUNTIME_CLASS: text.optional(),
  CAPSTAN_SANDBOX_STORAGE_CLASS: text.optional(),
  CAPSTAN_SANDBOX_USER_NAMESPACES: z.enum(['on', 'off']).default('off'),
  CAPSTAN_SANDBOX_CPU: amounts(/^\d+(\.\d+)?m?$/).default('100m,2'),
  CAPSTAN_SANDBOX_MEMORY: amounts(/^\d+(Ki|Mi|Gi)$/).default('256Mi,2Gi'),
  CAPSTAN_SANDBOX_SCRATCH: z
    .string()
    .regex(/^\d+(Ki|Mi|Gi)$/, 'must be a size such as 2Gi')
    .default('2Gi'),
  CAPSTAN_EGRESS_ALLOW: z.string().default(''),
  CAPSTAN_CUSTOM_TOOL_TIMEOUT: seconds.default(300),
  CAPSTAN_MCP_TIMEOUT: seconds.default(60),
  CAPSTAN_MAX_STEPS: count.default(90),
  CAPSTAN_WORKER_CONCURRENCY: count.default(64),
  CAPSTAN_LEASE_SECONDS: seconds.default(10),
  CAPSTAN_DATABASE_POOL: count.default(10),
  CAPSTAN_CORS_ORIGINS: z.string().default(''),
  CAPSTAN_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  OPENAI_API_KEY: text.optional(),
  OPENAI_BASE_URL: z.url().default('https://api.openai.com/v1'),
  ANTHROPIC_API_KEY: text.optional(),
  ANTHROPIC_BASE_URL: z.url().default('https://api.anthropic.com/v1'),
});

/** Read by the command line, the tests and the build, not by the server. */
const OTHER_SETTINGS = new Set([
  'CAPSTAN_URL',
  'CAPSTAN_REQUIRE_ALL',
  'CAPSTAN_FUZZ_SEED',
  'CAPSTAN_TEST_KUBECONFIG',
  'CAPSTAN_CACHE_DIR',
]);

export type Environment = Record<string, string | undefined>;
export type Config = ReturnType<typeof readConfig>;

function readSettings(env: Environment): z.infer<typeof Settings> {
  for (const name of Object.keys(env)) {
    if (name.startsWith('CAPSTAN_') && !(name in Settings.shape) && !OTHER_SETTINGS.has(name)) {
      throw new StartupError(`Unknown setting ${name}. The settings are listed in docs/configuration.md.`);
    }
  }
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = Settings.safeParse(given);
  if (!parsed.success) throw new StartupError(`Bad setting: ${describeIssues(parsed.error)}.`);
  return parsed.data;
}

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

/** A provider as the inference core takes it: its key found, wherever the file said it is. */
function readProviders(file: ConfigFile, settings: z.infer<typeof Settings>, env: Environment) {
  const providers: Record<string, ConfigFile['providers'][string] & { apiKey?: string }> = {};
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
    if (apiKeyEnv !== undefined && (env[apiKeyEnv] ?? '') === '') {
      throw new StartupError(`Provider ${name} takes its key from ${apiKeyEnv}, which is not set.`);
    }
    const apiKey = provider.apiKey ?? (apiKeyEnv === undefined ? undefined : env[apiKeyEnv]);
    providers[name] = { ...provider, ...(apiKey === undefined ? {} : { apiKey }) };
  }
  return providers;
}

function readWebSearch({ webSearch }: ConfigFile, env: Environment): WebSearchConfig | undefined {
  if (webSearch?.apiKeyEnv === undefined) return webSearch;
  const apiKey = env[webSearch.apiKeyEnv] ?? '';
  if (apiKey === '') throw new StartupError(`webSearch takes its key from ${webSearch.apiKeyEnv}, which is not set.`);
  return { ...webSearch, apiKey };
}

/** Clients of the messages format name the host only; everywhere else here the version segment is part of the base. */
function withVersion(baseUrl: string): string {
  const trimmed = baseUrl.replace(/\/+$/, '');
  return /\/v\d+$/.test(trimmed) ? trimmed : `${trimmed}/v1`;
}

const list = (value: string) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** How sandbox pods are made; `image` is undefined unless set. */
function readPodOptions(settings: z.infer<typeof Settings>) {
  const [cpu = '', maxCpu = ''] = settings.CAPSTAN_SANDBOX_CPU.split(',');
  const [memory = '', maxMemory = ''] = settings.CAPSTAN_SANDBOX_MEMORY.split(',');
  const runtimeClassName = settings.CAPSTAN_SANDBOX_RUNTIME_CLASS;
  return {
    image: settings.CAPSTAN_SANDBOX_IMAGE,
    ...(runtimeClassName === undefined ? {} : { runtimeClassName }),
    userNamespaces: settings.CAPSTAN_SANDBOX_USER_NAMESPACES === 'on',
    requests: { cpu, memory },
    limits: { cpu: maxCpu, memory: maxMemory, 'ephemeral-storage': settings.CAPSTAN_SANDBOX_SCRATCH },
  };
}

/** The only reader of the environment. Throws a `StartupError` that names the setting at fault. */
export function readConfig(env: Environment) {
  const settings = readSettings(env);
  const file = readConfigFile(settings.CAPSTAN_CONFIG);
  return {
    host: settings.CAPSTAN_HOST,
    port: settings.CAPSTAN_PORT,
    dataDir: resolve(settings.CAPSTAN_DATA_DIR),
    apiKey: settings.CAPSTAN_API_KEY,
    masterKey: settings.CAPSTAN_MASTER_KEY,
    masterKeyPrevious: settings.CAPSTAN_MASTER_KEY_PREVIOUS,
    databaseUrl: settings.DATABASE_URL,
    databasePool: settings.CAPSTAN_DATABASE_POOL,
    natsUrl: settings.NATS_URL,
    redisUrl: settings.REDIS_URL,
    objectsUrl: settings.CAPSTAN_OBJECTS,
    sandbox: settings.CAPSTAN_SANDBOX,
    sandboxNetwork: settings.CAPSTAN_SANDBOX_NETWORK,
    sandboxUnwrapped: settings.CAPSTAN_SANDBOX_UNWRAPPED !== undefined,
    kubernetesNamespace: settings.CAPSTAN_KUBERNETES_NAMESPACE,
    sandboxIdleMs: settings.CAPSTAN_SANDBOX_IDLE_TIMEOUT * 1000,
    sandboxPod: readPodOptions(settings),
    storageClass: settings.CAPSTAN_SANDBOX_STORAGE_CLASS,
    egressAllow: list(settings.CAPSTAN_EGRESS_ALLOW),
    corsOrigins: list(settings.CAPSTAN_CORS_ORIGINS),
    customToolTimeoutMs: settings.CAPSTAN_CUSTOM_TOOL_TIMEOUT * 1000,
    mcpTimeoutMs: settings.CAPSTAN_MCP_TIMEOUT * 1000,
    maxSteps: settings.CAPSTAN_MAX_STEPS,
    workerConcurrency: settings.CAPSTAN_WORKER_CONCURRENCY,
    leaseMs: settings.CAPSTAN_LEASE_SECONDS * 1000,
    logLevel: settings.CAPSTAN_LOG_LEVEL,
    providers: readProviders(file, settings, env),
    models: file.models,
    webSearch: readWebSearch(file, env),
    file,
  };
}
