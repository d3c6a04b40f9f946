import { isDeepStrictEqual } from 'node:util';
import type { Condition, ResourceMeta } from '../../src/platform/kubernetes/resource.ts';
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

/** What happens in the life of every object and stands in its conditions: an Event for each would say it twice. */
const ORDINARY = new Set(
  'NotStarted PodStarting SchedulingGated PodReady PodEnding Idle NotWanted SessionEnding ClaimPending ClaimBound'.split(
    ' ',
  ),
);

/** What may be overtaken at any moment is worth a write when it has lasted so long. */
const PASSING_MS = 1000;

/** Since when objects have a status that is passing and has not been told, by kind and name. */
export type Untold = Map<string, number>;

/**
 * Writes the status, in one patch and only if it changed. Tells an Event where the reason of Ready became one that a
 * person may want to look into. Returns how long a status that is passing is not told yet, to be asked again then.
 */
export async function reportStatus(
  { writer, untold }: { writer: Writer; untold: Untold },
  target: { kind: Kind; plural: 'sessions' | 'volumes'; object: Reported },
  fields: object,
  findings: Finding[],
  options: {
    now: Date;
    /** written in any case, so that a write fails (409) when the object is not as it was read */
    always?: boolean;
    /** on its way to another status, which likely comes within the second */
    isPassing?: boolean;
  },
): Promise<number | undefined> {
  const { kind, plural, object } = target;
  const key = `${plural}/${object.metadata.name}`;
  const generation = object.metadata.generation ?? 0;
  const before = object.status ?? {};
  const conditions = buildConditions(object.status?.conditions, findings, { generation, now: options.now });
  const after = { ...fields, observedGeneration: generation, conditions };
  const isTold = isDeepStrictEqual(before, after) && options.always !== true;
  if (!isTold && options.isPassing === true) {
    const since = untold.get(key) ?? performance.now();
    const restMs = since + PASSING_MS - performance.now();
    if (restMs > 0) {
      untold.set(key, since);
      return restMs;
    }
  }
  untold.delete(key);
  if (isTold) return undefined;
  // In a merge patch what is left out stays: what is no longer so has to be said.
  const gone = Object.fromEntries(
    Object.keys(before)
      .filter((name) => !(name in after))
      .map((name) => [name, null]),
  );
  await writer.patch(plural, object, { status: { ...gone, ...after } }, 'status');
  const ready = findings.find(({ type }) => type === 'Ready');
  const known = object.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined || ready.reason === known?.reason || ORDINARY.has(ready.reason)) return undefined;
  const type = WARNINGS.has(ready.reason) ? 'Warning' : 'Normal';
  writer.tell(kind, object, { type, reason: ready.reason, message: ready.message });
  return undefined;
}
