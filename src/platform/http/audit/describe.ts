import type { AuditEntry } from '../../contract/audit.ts';
import type { Route } from '../../contract/route.ts';
import { isRecord } from '../../records.ts';

/** Collections by their step in a path: what one of them is called, and how its ids begin. */
const COLLECTIONS: Readonly<Record<string, { type: string; prefix: string }>> = {
  agents: { type: 'agent', prefix: 'agt' },
  sessions: { type: 'session', prefix: 'ses' },
  vaults: { type: 'vault', prefix: 'vlt' },
  credentials: { type: 'credential', prefix: 'crd' },
  automations: { type: 'automation', prefix: 'aut' },
  'api-keys': { type: 'api_key', prefix: 'key' },
  'sign-ins': { type: 'sign_in', prefix: 'sgn' },
  webhooks: { type: 'webhook', prefix: 'whk' },
  providers: { type: 'provider', prefix: 'prv' },
  budgets: { type: 'budget', prefix: 'bud' },
  environments: { type: 'environment', prefix: 'env' },
  generations: { type: 'generation', prefix: 'gen' },
  characters: { type: 'character', prefix: 'chr' },
  templates: { type: 'template', prefix: 'tpl' },
};

/** What an operation changes. `prefix`: how the id of what it makes begins; null where it changes what there is. */
export type ResourceRef = AuditEntry['resource'] & { prefix: string | null };

/** The names of the parameters that a path begins with. A budget has two: `{scope}/{id}`. */
function listParameters(steps: readonly string[]): string[] {
  const names = steps.map((step) => /^\{(\w+)\}$/.exec(step)?.[1]);
  const end = names.indexOf(undefined);
  return names.slice(0, end === -1 ? names.length : end).filter((name) => name !== undefined);
}

/** Reads from the path what an operation is about: the last thing in it that is named, or that is made. */
export function findResource(
  { method, path }: Pick<Route, 'method' | 'path'>,
  params: Readonly<Record<string, string>>,
): ResourceRef {
  const steps = path.split('/');
  for (const [index, step] of [...steps.entries()].reverse()) {
    const found = Object.hasOwn(COLLECTIONS, step) ? COLLECTIONS[step] : undefined;
    if (found === undefined) continue;
    const next = steps[index + 1];
    const ids = listParameters(steps.slice(index + 1)).map((name) => params[name]);
    if (ids.length > 0) return { type: found.type, id: ids.includes(undefined) ? null : ids.join('/'), prefix: null };
    if (next !== undefined) return { type: found.type, id: null, prefix: null };
    if (method === 'POST') return { type: found.type, id: null, prefix: found.prefix };
  }
  return { type: null, id: null, prefix: null };
}

/** The id of what was made: the first parameter of a statement that begins like one. */
export function findMadeId(prefix: string | null, params: readonly unknown[] = []): string | undefined {
  if (prefix === null) return undefined;
  return params.find(
    (param): param is string =>
      typeof param === 'string' && /^[a-z]{3}_[0-9a-z]{26}$/.test(param) && param.startsWith(`${prefix}_`),
  );
}

/** Fields whose values are neither content nor secret. */
const SHOWN = new Set(
  [
    'name displayName title role status scopes models requestsPerMinute tokensPerDay expiresAt gracePeriodSeconds version',
    'agentId subjectId modelName vaultIds enabled yoloMode limitUsd period onReached type approval_id request_id result',
    'scope tool_use_id delivery schedule timezone conversationsPerMinute messagesPerMinute organization events credits',
    'expectedVersion productionVersion tag preview rateLimits format',
  ].flatMap((line) => line.split(' ')),
);

const BLANK = '[redacted]';
const MAX_TEXT = 256;
const MAX_ITEMS = 50;
const MAX_DEPTH = 4;

function blank(value: unknown, depth: number): unknown {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'string') return value.slice(0, MAX_TEXT);
  if (depth >= MAX_DEPTH) return BLANK;
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => blank(item, depth + 1));
  return isRecord(value) ? describeChanges(value, depth + 1) : BLANK;
}

/** The fields of a request's body; the values only of those that hold neither content nor secrets. */
export function describeChanges(
  body: Readonly<Record<string, unknown>> | undefined,
  depth = 0,
): Record<string, unknown> {
  const entries = Object.entries(body ?? {}).slice(0, MAX_ITEMS);
  return Object.fromEntries(
    entries.map(([name, value]) => [name.slice(0, MAX_TEXT), SHOWN.has(name) ? blank(value, depth) : BLANK]),
  );
}
