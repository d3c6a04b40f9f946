import type { WireFormat } from '../../inference/config.ts';
import type { Destination } from '../../inference/inference.ts';
import { isRecord } from '../../platform/records.ts';
import { unsupported } from '../gateway-error.ts';
import type { GatewayError } from '../gateway-error.ts';
import { CHAT_FIELDS } from './chat-completions.ts';
import { MESSAGES_FIELDS } from './messages.ts';
import { RESPONSES_FIELDS } from './responses.ts';
import type { Fate, FieldRule, FieldTable } from './rule.ts';

type JsonObject = Record<string, unknown>;

/** The treatment of each field in a client's format. Both the docs and the behaviour come from these tables. */
export const FIELD_TABLES: Record<WireFormat, FieldTable> = {
  'chat-completions': CHAT_FIELDS,
  responses: RESPONSES_FIELDS,
  messages: MESSAGES_FIELDS,
};

function isPresent(value: unknown, { isNeutral }: FieldRule): boolean {
  return value !== undefined && value !== null && isNeutral?.(value) !== true;
}

/** The treatment of a field that the table does not list. */
function decideUnknown(client: WireFormat, { format }: Destination): Fate {
  return client === 'chat-completions' && format === client ? 'carried' : 'ignored';
}

/** The treatment of a listed field by one upstream. */
function decide({ to, needs }: FieldRule, { format, lacks }: Destination): Fate {
  return needs !== undefined && lacks.includes(needs) ? 'ignored' : to[format];
}

/** The error for the first field that its destinations would refuse; undefined if there is none. */
export function findRefused(
  client: WireFormat,
  body: JsonObject,
): { error: GatewayError; forwarded: boolean } | undefined {
  const table = FIELD_TABLES[client];
  for (const [name, value] of Object.entries(body)) {
    const rule = Object.hasOwn(table, name) ? table[name] : undefined;
    if (rule === undefined || !isPresent(value, rule)) continue;
    if (!Object.values(rule.to).includes('refused')) continue;
    return { error: unsupported(name, rule.help ?? 'is not supported'), forwarded: rule.forwarded === true };
  }
  return undefined;
}

/** Fields that a chat completions upstream gets unchanged. */
export function pickChatFields(body: JsonObject): JsonObject | undefined {
  const kept = Object.entries(body).filter(([name, value]) => {
    if (value === undefined || value === null) return false;
    return !Object.hasOwn(CHAT_FIELDS, name) || CHAT_FIELDS[name]?.verbatim === true;
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** Values at a path such as `text.verbosity` or `messages[].name`. */
function listValues(body: JsonObject, path: string): unknown[] {
  let found: unknown[] = [body];
  for (const step of path.split('.')) {
    const isList = step.endsWith('[]');
    const name = isList ? step.slice(0, -2) : step;
    found = found.flatMap((value) => {
      const inner = isRecord(value) ? value[name] : undefined;
      return isList ? (Array.isArray(inner) ? (inner as unknown[]) : []) : [inner];
    });
  }
  return found;
}

/** Paths within fields. Other keys of the tables describe kinds of values. */
const NESTED = Object.fromEntries(
  Object.entries(FIELD_TABLES).map(([client, table]) => [
    client,
    Object.keys(table).filter((path) => /^[\w[\]]+\.[\w.[\]]+$/.test(path)),
  ]),
);

const MAX_LISTED = 20;
const NAME = /^[\w.[\]-]{1,100}$/;

/** The fields that have no effect at one of the destinations, as paths. */
export function listIgnored(client: WireFormat, body: JsonObject, destinations: readonly Destination[]): string[] {
  const table = FIELD_TABLES[client];
  const isIgnored = (rule: FieldRule | undefined) =>
    destinations.some((to) => (rule === undefined ? decideUnknown(client, to) : decide(rule, to)) === 'ignored');
  const ignored = Object.entries(body).flatMap(([name, value]) => {
    const rule = Object.hasOwn(table, name) ? table[name] : undefined;
    const present = rule === undefined ? value !== undefined && value !== null : isPresent(value, rule);
    return present && NAME.test(name) && isIgnored(rule) ? [name] : [];
  });
  for (const path of NESTED[client] ?? []) {
    const rule = table[path];
    if (rule === undefined || !isIgnored(rule)) continue;
    if (listValues(body, path).some((value) => isPresent(value, rule))) ignored.push(path);
  }
  return ignored.slice(0, MAX_LISTED);
}
