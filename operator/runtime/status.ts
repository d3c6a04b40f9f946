import { isDeepStrictEqual } from 'node:util';
import type { Condition, ResourceMeta } from '../../src/platform/kubernetes/resource.ts';
import { buildConditions } from './conditions.ts';
import type { ConditionUpdate } from './conditions.ts';
import { severityOf } from './reasons.ts';
import { resourceKey } from './writer.ts';
import type { Kind, Writer } from './writer.ts';

type Reported = { metadata: ResourceMeta; status?: ({ conditions?: Condition[] | undefined } & object) | undefined };

/** A transient status is written once it has lasted this long. */
const TRANSIENT_MS = 1000;

/** Transient statuses that are not written yet: since when, by resource key. */
export type DeferredStatus = Map<string, number>;

export type StatusReport = {
  kind: Kind;
  plural: 'sessions' | 'volumes' | 'sandboxclasses';
  object: Reported;
  /** of the status, besides its conditions */
  fields: object;
  conditions: ConditionUpdate[];
  now: Date;
  /** write even an unchanged status, so that the write fails (409) when the object has changed since it was read */
  force?: boolean;
  /** likely replaced by another status within a second */
  isTransient?: boolean;
};

/**
 * Writes the status in one patch, if it changed. Records an Event if the reason of a condition changed to one that is
 * not routine. Returns the milliseconds after which to report a transient status again, if its write was deferred.
 */
export async function reportStatus(
  { writer, deferredStatus }: { writer: Writer; deferredStatus: DeferredStatus },
  report: StatusReport,
): Promise<number | undefined> {
  const { plural, object } = report;
  const key = resourceKey(plural, object.metadata.name);
  const generation = object.metadata.generation ?? 0;
  const before = object.status ?? {};
  const conditions = buildConditions(object.status?.conditions, report.conditions, { generation, now: report.now });
  const after = { ...report.fields, observedGeneration: generation, conditions };
  const mustWrite = report.force === true || !isDeepStrictEqual(before, after);
  if (mustWrite && report.isTransient === true) {
    const since = deferredStatus.get(key) ?? performance.now();
    const remainingMs = since + TRANSIENT_MS - performance.now();
    if (remainingMs > 0) {
      deferredStatus.set(key, since);
      return remainingMs;
    }
  }
  deferredStatus.delete(key);
  if (!mustWrite) return undefined;
  await writer.patch(plural, object, { status: buildStatusPatch(before, after) }, 'status');
  recordReasons(writer, report);
  return undefined;
}

/** A merge patch keeps what it leaves out, so fields that are gone are set to null. */
function buildStatusPatch(before: object, after: object): object {
  const removed = Object.keys(before).filter((name) => !(name in after));
  return { ...Object.fromEntries(removed.map((name) => [name, null])), ...after };
}

/** Conditions whose changes are recorded as Events. Ready reports the others too. */
const EVENT_TYPES = new Set<ConditionUpdate['type']>(['Ready', 'Standby', 'FilesLost', 'BackedUp', 'Warm']);

function recordReasons(writer: Writer, { kind, object, conditions }: StatusReport): void {
  for (const { type, reason, message, touch } of conditions) {
    const known = object.status?.conditions?.find((condition) => condition.type === type);
    const severity = severityOf(reason);
    if (!EVENT_TYPES.has(type) || severity === 'routine' || (reason === known?.reason && touch !== true)) continue;
    writer.recordEvent(kind, object, { type: severity === 'warning' ? 'Warning' : 'Normal', reason, message });
  }
}
