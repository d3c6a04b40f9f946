import { z } from 'zod';
import { describeIssues } from '../../platform/contract/validation.ts';
import { DEFAULT_BOUNDS } from '../../platform/http/bounds.ts';
import { isNetwork } from '../../platform/http/client-address.ts';
import { StartupError } from '../../platform/errors.ts';

const port = z.coerce.number().int().min(0).max(65_535);
const seconds = z.coerce.number().positive().max(86_400);
const count = z.coerce.number().int().min(1).max(10_000);
const bound = z.coerce.number().int().min(1).max(1_000_000);
const text = z.string().min(1);

/** What a pod asks for and what it may use at most, with a comma between. */
const amounts = (one: RegExp) =>
  z.string().refine((value) => {
    const parts = value.split(',');
    return parts.length === 2 && parts.every((part) => one.test(part));
  }, 'must be two amounts with a comma between: what a pod asks for, and what it may use');

/** Every setting read from the environment; docs/configuration.md lists them. */
export const Settings = z.object({
  CAPSTAN_HOST: text.default('127.0.0.1'),
  CAPSTAN_PORT: port.default(8080),
  /** serves metrics and the state of each backend; unset: CAPSTAN_PORT does, to callers on this machine */
  CAPSTAN_METRICS_PORT: port.optional(),
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
  /** as root: the unprivileged users that sandboxes run as, one a volume */
  CAPSTAN_SANDBOX_UIDS: z
    .string()
    .regex(/^\d{1,10}-\d{1,10}$/, 'must be two user ids with a hyphen between')
    .transform((value) => {
      const [first = 0, last = 0] = value.split('-').map(Number);
      return { first, last };
    })
    .refine(
      ({ first, last }) => first > 0 && first <= last && last < 2 ** 32 - 1,
      'must go from a lower id above 0 to a higher one',
    )
    .optional(),
  /** sandboxes of this machine that may run at the same time */
  CAPSTAN_SANDBOX_MAX_LIVE: count.optional(),
  /** runs tools without isolation where bubblewrap cannot run */
  CAPSTAN_SANDBOX_UNWRAPPED: z.literal('i-accept-the-risk').optional(),
  /** where Sessions and Volumes are; the kubeconfig's or the pod's own unless set */
  CAPSTAN_KUBERNETES_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be the name of a namespace')
    .optional(),
  /** of agents that name none in `environment.sandboxClass` */
  CAPSTAN_SANDBOX_CLASS: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be the name of a SandboxClass')
    .optional(),
  /** kubectl's own, and what every pod is told of the API server */
  KUBECONFIG: text.optional(),
  KUBERNETES_SERVICE_HOST: text.optional(),
  KUBERNETES_SERVICE_PORT: port.default(443),
  CAPSTAN_SANDBOX_IMAGE: text.optional(),
  CAPSTAN_SANDBOX_IDLE_TIMEOUT: seconds.default(900),
  CAPSTAN_SANDBOX_RUNTIME_CLASS: text.optional(),
  CAPSTAN_SANDBOX_STORAGE_CLASS: text.optional(),
  /** a volume whose claim is gone: halt until somebody confirms, or go on with an empty claim */
  CAPSTAN_SANDBOX_ON_LOST_CLAIM: z.enum(['halt', 'recreate']).default('halt'),
  /** hours between VolumeSnapshots of a volume; 0: none */
  CAPSTAN_SANDBOX_BACKUP_HOURS: z.coerce.number().min(0).max(8760).default(0),
  CAPSTAN_SANDBOX_BACKUP_KEEP: z.coerce.number().int().min(1).max(100).default(7),
  CAPSTAN_SANDBOX_SNAPSHOT_CLASS: text.optional(),
  /** the cluster assigns the users of sandbox pods, as OpenShift does */
  CAPSTAN_SANDBOX_CLUSTER_UIDS: z.enum(['on', 'off']).default('off'),
  CAPSTAN_SANDBOX_USER_NAMESPACES: z.enum(['on', 'off']).default('off'),
  CAPSTAN_SANDBOX_CPU: amounts(/^\d+(\.\d+)?m?$/).default('100m,2'),
  CAPSTAN_SANDBOX_MEMORY: amounts(/^\d+(Ki|Mi|Gi)$/).default('256Mi,2Gi'),
  CAPSTAN_SANDBOX_SCRATCH: z
    .string()
    .regex(/^\d+(Ki|Mi|Gi)$/, 'must be a size such as 2Gi')
    .default('2Gi'),
  CAPSTAN_SANDBOX_SCRATCH_REQUEST: z
    .string()
    .regex(/^\d+(Ki|Mi|Gi)$/, 'must be a size such as 128Mi')
    .default('128Mi'),
  CAPSTAN_EGRESS_ALLOW: z.string().default(''),
  /** the program of the website login's browser; found on the search path unless set */
  CAPSTAN_CHROMIUM: text.optional(),
  CAPSTAN_LOGIN_CONCURRENCY: count.default(10),
  /** the address of this server as callers know it: what addresses of videos and their pages begin with */
  CAPSTAN_PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** whether the web console is served below `/console/` */
  CAPSTAN_CONSOLE: z.enum(['on', 'off']).default('on'),
  /** videos that a process renders at once */
  CAPSTAN_VIDEO_CONCURRENCY: count.default(1),
  CAPSTAN_CUSTOM_TOOL_TIMEOUT: seconds.default(300),
  CAPSTAN_MCP_TIMEOUT: seconds.default(60),
  CAPSTAN_MAX_STEPS: count.default(90),
  CAPSTAN_WORKER_CONCURRENCY: count.default(64),
  CAPSTAN_LEASE_SECONDS: seconds.default(10),
  CAPSTAN_DATABASE_POOL: count.default(10),
  CAPSTAN_STREAMS_PER_KEY: bound.default(DEFAULT_BOUNDS.streamsPerKey),
  CAPSTAN_MAX_CONNECTIONS: bound.default(DEFAULT_BOUNDS.connections),
  CAPSTAN_IDLE_CONNECTIONS_PER_ADDRESS: bound.default(DEFAULT_BOUNDS.idleConnectionsPerAddress),
  CAPSTAN_UNKNOWN_KEYS_PER_MINUTE: bound.default(DEFAULT_BOUNDS.unknownKeysPerMinute),
  CAPSTAN_STATEMENT_TIMEOUT: seconds.default(30),
  /** `off` for tests: a loss of power then costs the embedded database */
  CAPSTAN_FSYNC: z.enum(['on', 'off']).default('on'),
  CAPSTAN_STORAGE_FLOOR_MIB: z.coerce.number().int().min(0).max(1_000_000).default(512),
  CAPSTAN_STORAGE_FLOOR_PERCENT: z.coerce.number().min(0).max(50).default(2),
  CAPSTAN_CORS_ORIGINS: z.string().default(''),
  /** addresses and CIDRs, comma-separated, of proxies whose X-Forwarded headers count */
  CAPSTAN_TRUSTED_PROXIES: z
    .string()
    .default('')
    .refine(
      (value) => value === '' || value.split(',').every((item) => isNetwork(item.trim())),
      'must be addresses or CIDRs with commas between',
    ),
  /** a supervisor has to wait longer than this before it kills */
  CAPSTAN_SHUTDOWN_SECONDS: z.coerce.number().int().min(5).max(3600).default(25),
  CAPSTAN_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  OPENAI_API_KEY: text.optional(),
  OPENAI_BASE_URL: z.url().default('https://api.openai.com/v1'),
  ANTHROPIC_API_KEY: text.optional(),
  ANTHROPIC_BASE_URL: z.url().default('https://api.anthropic.com/v1'),
  /** the worker calls models through this gateway of Capstan instead of the providers */
  CAPSTAN_GATEWAY_URL: z.url({ protocol: /^https?$/ }).optional(),
  CAPSTAN_GATEWAY_KEY: text.optional(),
  /** of a collector: the gateway posts its metrics there, and turns their traces; the exporter reads its other variables by itself */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** whether traces hold what was said */
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['true', 'false']))
    .default('false'),
  OTEL_METRIC_EXPORT_INTERVAL: z.coerce.number().int().min(100).max(86_400_000).default(60_000),
  OTEL_SERVICE_NAME: text.optional(),
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
export type Settings = z.infer<typeof Settings>;

/** The settings of an environment. Throws a `StartupError` that names the one at fault. */
export function readSettings(env: Environment): Settings {
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
