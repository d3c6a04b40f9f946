import { isDeepStrictEqual } from 'node:util';
import type { Condition, ResourceMeta } from '../../src/contract/resources/common.ts';
import { buildConditions } from './conditions.ts';
import type { Finding } from './conditions.ts';
import type { Kind, Writer } from './writer.ts';

type Reported = { metadata: ResourceMeta; status?: { conditions?: Condition[] } & object };

/** Reasons that a person should look at. */
const WARNINGS = new Set(
  (
    'ImagePullFailed ContainerCannotStart Unschedulable NodeLost Evicted OutOfMemory BackOff PodEnded PodFailed ' +
    'PodNotReady SpareRemoved VolumeNotFound ClaimLost ClaimEnding'
  ).split(' '),
);

/** What nobody has to be told of: it happens to every object at its beginning. */
const SILENT = new Set(['NotStarted']);

/**
 * Writes the status, in one patch and only if it changed; `always` has it written in any case, so that a write fails
 * (409) when the object is not as it was read. Tells an Event where the reason of Ready became another.
 */
export async function reportStatus(
  writer: Writer,
  target: { kind: Kind; plural: 'sessions' | 'volumes'; object: Reported },
  fields: object,
  findings: Finding[],
  options: { now: Date; always?: boolean },
): Promise<void> {
  const { kind, plural, object } = target;
  const generation = object.metadata.generation ?? 0;
  const before = object.status ?? {};
  const conditions = buildConditions(object.status?.conditions, findings, { generation, now: options.now });
  const after = { ...fields, observedGeneration: generation, conditions };
  if (isDeepStrictEqual(before, after) && options.always !== true) return;
  // In a merge patch what is left out stays: what is no longer so has to be said.
  const gone = Object.fromEntries(
    Object.keys(before)
      .filter((key) => !(key in after))
      .map((key) => [key, null]),
  );
  await writer.patch(plural, object, { status: { ...gone, ...after } }, 'status');
  const ready = findings.find(({ type }) => type === 'Ready');
  const known = object.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined || ready.reason === known?.reason || SILENT.has(ready.reason)) return;
  const type = WARNINGS.has(ready.reason) ? 'Warning' : 'Normal';
  writer.tell(kind, object, { type, reason: ready.reason, message: ready.message });
}
