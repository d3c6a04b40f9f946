import { posix } from 'node:path';

export type SourceFile = { path: string; text: string };

/** Files by their path: a folder ends with a slash, `*` stands for a name. */
type Places = readonly string[];

const CONTRACT: Places = ['src/contract/'];
const BASE: Places = ['errors', 'log', 'lifecycle', 'ids', 'crypto', 'master-key', 'schedule'].map(
  (name) => `src/${name}.ts`,
);
const PORTS: Places = ['db/db', 'bus/bus', 'bus/channels', 'sandbox/sandbox', 'objects/objects', 'limits/limits'].map(
  (port) => `src/backends/${port}.ts`,
);
const STORE: Places = ['src/store/'];
const VAULT: Places = ['src/vault/'];
const MCP: Places = ['src/mcp/'];
const HTTP: Places = ['src/http/'];
const DOCUMENTS: Places = ['src/documents/'];
const WEB: Places = ['src/web/'];
const KUBERNETES: Places = ['src/kubernetes/'];
const ROOTS: Places = ['src/prepared-database.ts', 'src/roles/', 'src/start.ts', 'src/main.ts'];
const role = (...more: Places) => [...CONTRACT, ...BASE, ...PORTS, ...STORE, 'src/egress/', ...more];

/** Which files of ours a file may import, by the first entry that it falls under. Files of its own entry always. */
const IMPORTS: readonly { from: Places; may: Places }[] = [
  {
    from: ['test/', 'bench/', 'scripts/', '*.config.ts', ...ROOTS],
    may: ['src/', 'clients/', 'operator/', 'sandbox-image/', 'scripts/', 'test/'],
  },
  { from: CONTRACT, may: [] },
  { from: ['src/config.ts', 'src/settings.ts', ...BASE], may: [...CONTRACT, ...BASE] },
  { from: KUBERNETES, may: [...CONTRACT, ...BASE] },
  ...['db', 'bus', 'sandbox', 'objects', 'limits'].map((port) => ({
    from: [`src/backends/${port}/`],
    may: [...CONTRACT, ...BASE, ...(port === 'sandbox' ? KUBERNETES : [])],
  })),
  { from: STORE, may: [...CONTRACT, ...BASE, 'src/backends/db/db.ts'] },
  { from: ['src/inference/'], may: [...CONTRACT, ...BASE] },
  { from: ['src/egress/'], may: [...CONTRACT, ...BASE] },
  { from: DOCUMENTS, may: [...CONTRACT, ...BASE] },
  { from: ['src/agent/'], may: [...CONTRACT, ...BASE, 'src/inference/', ...PORTS] },
  { from: VAULT, may: [...CONTRACT, ...BASE, ...STORE, 'src/egress/', 'src/backends/db/db.ts'] },
  { from: MCP, may: [...CONTRACT, ...BASE, 'src/egress/', ...VAULT] },
  { from: WEB, may: [...CONTRACT, ...BASE, 'src/egress/', ...DOCUMENTS] },
  { from: HTTP, may: role() },
  { from: ['src/api/'], may: role(...HTTP, ...VAULT, ...MCP) },
  { from: ['src/worker/'], may: role('src/agent/', 'src/inference/', ...DOCUMENTS, ...VAULT, ...MCP, ...WEB) },
  { from: ['src/gateway/'], may: role(...HTTP, 'src/inference/') },
  { from: ['src/video/'], may: role(...HTTP) },
  { from: ['src/login/'], may: role(...HTTP, 'src/inference/') },
  // The very first key is made without a server.
  {
    from: ['src/cli/stored-keys.ts'],
    may: [...CONTRACT, ...BASE, ...STORE, 'src/cli/', 'src/backends/db/postgres.ts'],
  },
  { from: ['src/cli/'], may: [...CONTRACT, ...BASE, 'clients/typescript/'] },
  { from: ['clients/typescript/'], may: [] },
  { from: ['operator/'], may: [...CONTRACT, ...BASE, ...KUBERNETES] },
  { from: ['sandbox-image/'], may: ['src/contract/executor.ts', 'src/contract/executor-link.ts'] },
];

/** Packages that only these files may import; others are free where own code is. */
const PACKAGES: Readonly<Record<string, Places>> = {
  '@aws-sdk/': ['src/backends/objects/'],
  '@electric-sql/pglite': ['src/backends/db/'],
  '@kubernetes/client-node': ['operator/', 'src/kubernetes/'],
  '@fastify/': [...HTTP, 'src/api/', 'src/gateway/', 'src/video/', 'src/login/'],
  '@modelcontextprotocol/': ['src/mcp/'],
  commander: ['src/cli/'],
  fastify: [...HTTP, 'src/api/', 'src/gateway/', 'src/video/', 'src/login/'],
  ioredis: ['src/backends/limits/'],
  nats: ['src/backends/bus/'],
  pg: ['src/backends/db/'],
  'pg-boss': ['src/video/jobs/'],
};

const TOOLING: Places = ['test/', 'bench/', 'scripts/', '*.config.ts'];
const READS_ENVIRONMENT: Places = ['src/config.ts', 'src/main.ts', 'src/cli/', 'sandbox-image/', ...TOOLING];
const PRINTS: Places = ['src/cli/', 'src/main.ts', 'src/start.ts', 'bench/', 'scripts/'];
const BARRELS: Places = ['src/contract/index.ts', 'clients/typescript/index.ts'];
const MAX_LINES = 300;

function isIn(path: string, places: Places): boolean {
  return places.some((place) => {
    if (place.startsWith('*')) return !path.includes('/') && path.endsWith(place.slice(1));
    return place.endsWith('/') ? path.startsWith(place) : path === place;
  });
}

/** The statements that name a module: import, export … from, and import(). Comments are not code. */
export function findImports(text: string): string[] {
  const code = text.replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, '');
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
  if (isIn(file.path, CONTRACT) && name !== 'zod') return [`may import zod only, not ${name}`];
  const [, places] =
    Object.entries(PACKAGES).find(([key]) => name === key || name.startsWith(key.endsWith('/') ? key : `${key}/`)) ??
    [];
  return places === undefined || isIn(file.path, places) ? [] : [`may not import ${name}`];
}

function checkText({ path, text }: SourceFile): string[] {
  const breaches: string[] = [];
  const lines = text.trimEnd().split('\n').length;
  const has = (pattern: RegExp) => pattern.test(text);
  if (lines > MAX_LINES) breaches.push(`has ${lines} lines, more than ${MAX_LINES}`);
  if (has(/^export default\b/m) && !isIn(path, ['*.config.ts'])) breaches.push('has a default export');
  if (has(/^export (?:\*|\{[^}]*\} from)/m) && !isIn(path, BARRELS)) breaches.push('exports what is not its own');
  if (isIn(path, TOOLING)) return breaches;
  if (has(/\bprocess\.env\b/) && !isIn(path, READS_ENVIRONMENT)) breaches.push('reads the environment');
  if (has(/\bconsole\./) && !isIn(path, PRINTS)) breaches.push('prints');
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
