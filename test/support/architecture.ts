import { posix } from 'node:path';

export type SourceFile = { path: string; text: string };

/** Files by their path: a folder ends with a slash, `*` stands for a name. */
type Places = readonly string[];

const BASE: Places = [
  'errors',
  'log',
  'lifecycle',
  'ids',
  'crypto',
  'master-key',
  'records',
  'random',
  'abort',
  'event-loop',
  'storage-floor',
  'trace-context',
  'work-context',
  'webhook-signature',
].map((name) => `src/platform/${name}.ts`);
const CONTRACT: Places = ['src/platform/contract/'];
const PORTS: Places = ['db/db', 'bus/bus', 'objects/objects', 'limits/limits'].map((port) => `src/platform/${port}.ts`);
const STORE: Places = ['src/platform/store/'];
const EGRESS: Places = ['src/platform/egress/'];
const KUBERNETES: Places = ['src/platform/kubernetes/'];
const DOCUMENTS: Places = ['src/platform/documents/'];
const JOBS: Places = ['src/platform/jobs/'];
const HTTP: Places = ['src/platform/http/'];
const BUDGETS: Places = ['src/platform/budgets/'];
const TELEMETRY: Places = ['src/platform/telemetry/'];
/** Parts of the platform that products and the operator may import: no adapter of a port. */
const FOUNDATION: Places = [
  ...CONTRACT,
  ...BASE,
  ...PORTS,
  ...STORE,
  ...EGRESS,
  ...DOCUMENTS,
  ...JOBS,
  ...BUDGETS,
  ...TELEMETRY,
];
const KEY_CHANGES: Places = ['key-changes', 'budget-changes', 'notices'].map((name) => `src/platform/bus/${name}.ts`);
const SANDBOX: Places = ['src/sandbox/sandbox.ts', 'src/sandbox/volume-size.ts', 'src/sandbox/protocol/'];
const INFERENCE: Places = ['src/inference/'];
/** Shapes that cross process boundaries. */
const CONTRACTS: Places = [
  ...CONTRACT,
  ...['agents', 'gateway', 'video', 'login'].map((product) => `src/${product}/contract/`),
];
const ROOTS: Places = ['src/roles/', 'src/start.ts', 'src/main.ts'];

/** The parts of the agent service that do I/O only through arguments. */
const AGENTS_PURE: Places = ['src/agents/contract/', 'src/agents/log/', 'src/agents/loop/', 'src/agents/tools/'];
const AGENTS_STORE: Places = ['src/agents/contract/', 'src/agents/store/', 'src/agents/vaults/', 'src/agents/mcp/'];
/** The events of a session: their types, builders and readers. */
const AGENTS_LOG: Places = ['src/agents/log/'];
const AGENTS_AUTOMATIONS: Places = ['src/agents/automations/'];
const AGENTS_CHANNELS: Places = ['src/agents/channels.ts'];

/** Files of ours that a file may import, by the first matching entry. It may always import files of its own entry. */
const IMPORTS: readonly { from: Places; may: Places }[] = [
  {
    from: ['test/', 'bench/', 'scripts/', '*.config.ts', ...ROOTS],
    may: ['src/', 'clients/', 'operator/', 'sandbox-image/', 'scripts/', 'test/'],
  },
  { from: CONTRACT, may: [] },
  { from: BASE, may: [...CONTRACT, ...BASE] },
  { from: KUBERNETES, may: [...CONTRACT, ...BASE] },
  ...['db', 'bus', 'objects', 'limits'].map((port) => ({
    from: [`src/platform/${port}/`],
    may: [...CONTRACT, ...BASE],
  })),
  { from: STORE, may: [...CONTRACT, ...BASE, 'src/platform/db/db.ts'] },
  { from: EGRESS, may: [...CONTRACT, ...BASE] },
  { from: DOCUMENTS, may: [...CONTRACT, ...BASE] },
  { from: JOBS, may: [...CONTRACT, ...BASE] },
  { from: TELEMETRY, may: [...CONTRACT, ...BASE] },
  { from: BUDGETS, may: [...CONTRACT, ...BASE, ...PORTS, ...STORE, ...JOBS, ...KEY_CHANGES] },
  { from: HTTP, may: [...FOUNDATION, ...KEY_CHANGES] },
  { from: INFERENCE, may: [...CONTRACT, ...BASE] },
  { from: ['src/sandbox/protocol/'], may: [] },
  { from: ['src/sandbox/'], may: [...CONTRACT, ...BASE, ...KUBERNETES] },

  { from: ['src/agents/contract/'], may: CONTRACT },
  { from: AGENTS_LOG, may: [...CONTRACT, ...BASE, ...INFERENCE, 'src/agents/contract/'] },
  {
    from: ['src/agents/loop/', 'src/agents/tools/'],
    may: [...CONTRACT, ...BASE, ...PORTS, ...INFERENCE, ...SANDBOX, ...AGENTS_PURE],
  },
  {
    from: ['src/agents/store/'],
    may: [...CONTRACT, ...BASE, ...STORE, 'src/platform/db/db.ts', 'src/agents/contract/', ...AGENTS_LOG],
  },
  { from: ['src/agents/vaults/', 'src/agents/mcp/'], may: [...FOUNDATION, ...AGENTS_STORE] },
  { from: ['src/agents/web/'], may: [...FOUNDATION, 'src/agents/contract/'] },
  { from: AGENTS_CHANNELS, may: [...CONTRACT, ...BASE, ...PORTS, 'src/agents/contract/'] },
  { from: AGENTS_AUTOMATIONS, may: [...FOUNDATION, ...AGENTS_STORE, ...AGENTS_CHANNELS] },
  {
    from: ['src/agents/api/'],
    may: [
      ...FOUNDATION,
      ...HTTP,
      ...KEY_CHANGES,
      ...SANDBOX,
      ...AGENTS_LOG,
      ...AGENTS_STORE,
      ...AGENTS_CHANNELS,
      ...AGENTS_AUTOMATIONS,
    ],
  },
  {
    from: ['src/agents/worker/'],
    may: [
      ...FOUNDATION,
      ...INFERENCE,
      ...SANDBOX,
      ...AGENTS_PURE,
      ...AGENTS_STORE,
      ...AGENTS_CHANNELS,
      ...AGENTS_AUTOMATIONS,
      'src/agents/web/',
    ],
  },

  { from: ['src/gateway/'], may: [...FOUNDATION, ...HTTP, ...INFERENCE] },
  { from: ['src/video/'], may: [...FOUNDATION, ...HTTP] },
  { from: ['src/login/'], may: [...FOUNDATION, ...HTTP, ...INFERENCE] },
  // Works on the files of a stopped server.
  {
    from: ['src/cli/backup.ts'],
    may: [...CONTRACT, ...BASE, 'src/cli/', 'src/platform/db/lock.ts', 'src/platform/db/sync-tree.ts'],
  },
  // The very first key is created without a server.
  {
    from: ['src/cli/stored-keys.ts'],
    may: [...CONTRACT, ...BASE, ...STORE, 'src/cli/', 'src/platform/db/postgres.ts'],
  },
  {
    from: ['src/cli/'],
    may: [...CONTRACT, ...BASE, 'src/agents/contract/', 'src/video/contract/', 'clients/typescript/'],
  },
  // Code in the browser uses the API like any client.
  { from: ['src/console/page/'], may: ['clients/typescript/'] },
  { from: ['src/console/'], may: [...FOUNDATION, ...HTTP] },
  { from: ['clients/typescript/'], may: [] },
  { from: ['operator/'], may: [...CONTRACT, ...BASE, ...KUBERNETES, 'src/sandbox/resources/'] },
  { from: ['sandbox-image/'], may: ['src/sandbox/protocol/'] },
];

/** Packages that only these files may import. All others may be imported anywhere in our code. */
const PACKAGES: Readonly<Record<string, Places>> = {
  '@aws-sdk/': ['src/platform/objects/', 'src/inference/credentials/'],
  '@smithy/': ['src/inference/credentials/', 'src/inference/event-frames.ts'],
  'google-auth-library': ['src/inference/credentials/'],
  '@tanstack/': ['src/console/page/'],
  '@electric-sql/pglite': ['src/platform/db/'],
  '@kubernetes/client-node': ['operator/', ...KUBERNETES],
  '@fastify/': [...HTTP, 'src/agents/api/', 'src/gateway/', 'src/video/', 'src/login/'],
  '@modelcontextprotocol/': ['src/agents/mcp/'],
  commander: ['src/cli/'],
  fastify: [...HTTP, 'src/console/serve.ts', 'src/agents/api/', 'src/gateway/', 'src/video/', 'src/login/'],
  ioredis: ['src/platform/limits/'],
  nats: ['src/platform/bus/'],
  pg: ['src/platform/db/'],
  'pg-boss': ['src/video/jobs/'],
  react: ['src/console/page/'],
  'react-dom': ['src/console/page/'],
};

const TOOLING: Places = ['test/', 'bench/', 'scripts/', '*.config.ts'];
const READS_ENVIRONMENT: Places = ['src/roles/config/', 'src/main.ts', 'src/cli/', 'sandbox-image/', ...TOOLING];
const PRINTS: Places = [
  'src/cli/',
  'src/main.ts',
  'src/start.ts',
  'bench/',
  'scripts/',
  // warns of ignored fields
  'clients/typescript/send.ts',
];
/** the only readers of the log's rows; everyone else narrows by `type` */
const CASTS_EVENTS: Places = ['src/agents/log/'];
const EVENT_CAST = /\b(?:payload|internal)\b[)\]!]*\s+as\s+(?!const\b)/;
const BARRELS: Places = ['clients/typescript/index.ts'];
const MAX_LINES = 300;
/** read by nobody: the contract is */
const GENERATED: Places = ['clients/typescript/generated/'];

function isIn(path: string, places: Places): boolean {
  return places.some((place) => {
    if (place.startsWith('*')) return !path.includes('/') && path.endsWith(place.slice(1));
    return place.endsWith('/') ? path.startsWith(place) : path === place;
  });
}

function dropComments(text: string): string {
  return text.replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, '');
}

/** The statements that name a module: import, export … from, and import(). Comments are not code. */
export function findImports(text: string): string[] {
  const code = dropComments(text);
  const pattern =
    /^(?:import|export)\b[^;'"]*?from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;
  return [...code.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

function checkOwn(file: SourceFile, target: string): string[] {
  const rule = IMPORTS.find(({ from }) => isIn(file.path, from));
  if (rule === undefined) return ['lies in a folder that the table does not know'];
  return isIn(target, rule.from) || isIn(target, rule.may) ? [] : [`may not import ${target}`];
}

function checkPackage(file: SourceFile, name: string): string[] {
  if (isIn(file.path, ['clients/'])) return [`may import nothing, not ${name}`];
  if (name.startsWith('node:') || isIn(file.path, TOOLING)) return [];
  if (isIn(file.path, ['sandbox-image/'])) return [`may import node: only, not ${name}`];
  if (isIn(file.path, CONTRACTS) && name !== 'zod') return [`may import zod only, not ${name}`];
  const [, places] =
    Object.entries(PACKAGES).find(([key]) => name === key || name.startsWith(key.endsWith('/') ? key : `${key}/`)) ??
    [];
  return places === undefined || isIn(file.path, places) ? [] : [`may not import ${name}`];
}

function checkText({ path, text }: SourceFile): string[] {
  const breaches: string[] = [];
  const lines = text.trimEnd().split('\n').length;
  const has = (pattern: RegExp) => pattern.test(text);
  if (lines > MAX_LINES && !isIn(path, GENERATED)) breaches.push(`has ${lines} lines, more than ${MAX_LINES}`);
  if (has(/^export default\b/m) && !isIn(path, ['*.config.ts'])) breaches.push('has a default export');
  if (has(/^export (?:\*|\{[^}]*\} from)/m) && !isIn(path, BARRELS)) breaches.push('exports what is not its own');
  if (isIn(path, TOOLING)) return breaches;
  if (has(/\bprocess\.env\b/) && !isIn(path, READS_ENVIRONMENT)) breaches.push('reads the environment');
  if (has(/\bconsole\.\w/) && !isIn(path, PRINTS)) breaches.push('prints');
  if (EVENT_CAST.test(dropComments(text)) && !isIn(path, CASTS_EVENTS)) breaches.push('casts the payload of an event');
  return breaches;
}

/** Every breach of the rules of ARCHITECTURE.md, as `path: what`. */
export function findBreaches(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const imports = findImports(file.text).flatMap((name) =>
      name.startsWith('.')
        ? checkOwn(file, posix.normalize(posix.join(posix.dirname(file.path), name)))
        : checkPackage(file, name),
    );
    return [...imports, ...checkText(file)].map((breach) => `${file.path}: ${breach}`);
  });
}
