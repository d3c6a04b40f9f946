import { API_VERSION } from '../../src/platform/kubernetes/resource.ts';
import type { ResourceMeta } from '../../src/platform/kubernetes/resource.ts';
import { errorText } from '../../src/platform/errors.ts';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';
import type { Kubernetes } from '../../src/platform/kubernetes/client.ts';
import { buildListPath, buildPath } from '../../src/platform/kubernetes/paths.ts';
import type { Plural } from '../../src/platform/kubernetes/paths.ts';
import type { Logger } from '../../src/platform/log.ts';
import type { Expectations } from './expectations.ts';
import type { Leadership } from './leader-election.ts';
import type { OwnWrites } from './own-writes.ts';
import type { Reason } from './reasons.ts';

type Named = { metadata: ResourceMeta };
type Target = { metadata: Pick<ResourceMeta, 'name' | 'uid'> & { resourceVersion?: string } };
export type Kind = 'Session' | 'Volume' | 'SandboxClass';

/** All writes of the operator. None starts or continues after the leader's term has ended by the clock. */
export type Writer = {
  /** False when the name is taken. */
  create(plural: Plural, body: object & { metadata: { name: string } }): Promise<boolean>;
  /** Merge patch, only if the object is unchanged since it was read, or exists where no version is given. Throws 409, 404. */
  patch(plural: Plural, object: Target, change: object, subresource?: 'status'): Promise<void>;
  /** Deletes this very object, only if it is unchanged since it was read. Succeeds when it is gone; throws 409. */
  remove(plural: Plural, object: Named): Promise<void>;
  /** Queues an Event for `kubectl describe`. Best effort: never throws. */
  recordEvent(kind: Kind, object: Named, event: ResourceEvent): void;
  /** Resolves when all queued Events are sent. */
  flushEvents(): Promise<void>;
};

export type ResourceEvent = { type: 'Normal' | 'Warning'; reason: Reason; message: string };

export type WriterOptions = {
  kubernetes: Kubernetes;
  namespace: string;
  leadership: Leadership;
  expectations: Expectations;
  ownWrites: OwnWrites;
  log: Logger;
  onWrite?: (verb: string, plural: Plural) => void;
};

/** Bounds on Events, so that they do not delay decisions when many sessions change at once. */
const MAX_CONCURRENT_EVENTS = 8;
const MAX_QUEUED_EVENTS = 5000;

const NOT_CACHED: ReadonlySet<Plural> = new Set<Plural>(['events', 'volumesnapshots']);

let lastStamp = 0n;

/** Strictly increasing nanoseconds since 1970, as in kubectl's own Events, which it sorts by this suffix. */
function nextStamp(): string {
  const now = BigInt(Date.now()) * 1_000_000n;
  lastStamp = now > lastStamp ? now : lastStamp + 1n;
  return lastStamp.toString(16);
}

/** `plural/name` */
export const resourceKey = (plural: Plural, name: string): string => `${plural}/${name}`;

/** The inverse of `resourceKey`. */
export function splitKey(key: string): [plural: string, name: string] {
  const slash = key.indexOf('/');
  return [key.slice(0, slash), key.slice(slash + 1)];
}

export function buildWriter(options: WriterOptions): Writer {
  const { kubernetes, namespace, leadership, expectations, ownWrites } = options;
  const events = new Set<Promise<void>>();
  const waiting: object[] = [];

  const write = async (
    verb: 'create' | 'patch' | 'delete',
    plural: Plural,
    call: Parameters<Kubernetes['request']>[0],
  ): Promise<string | undefined> => {
    leadership.assertLeading();
    options.onWrite?.(verb, plural);
    const response = await kubernetes.request<Partial<Named> & { kind?: string }>({
      ...call,
      signal: leadership.signal,
    });
    // A delete that completes at once returns a Status, which has no version.
    const { name, resourceVersion } = response.metadata ?? {};
    if (name !== undefined && resourceVersion !== undefined && verb !== 'delete' && !NOT_CACHED.has(plural)) {
      expectations.expect(resourceKey(plural, name), resourceVersion);
    }
    return resourceVersion;
  };

  const sendEvents = (): void => {
    for (let body; events.size < MAX_CONCURRENT_EVENTS && (body = waiting.shift()) !== undefined;) {
      const sent = write('create', 'events', { method: 'POST', path: buildListPath(namespace, 'events'), body })
        .then(() => undefined)
        .catch((error: unknown) => options.log.debug({ error: errorText(error) }, 'could not record an Event'))
        .finally(() => {
          events.delete(sent);
          sendEvents();
        });
      events.add(sent);
    }
  };

  return {
    async create(plural, body) {
      try {
        await write('create', plural, { method: 'POST', path: buildListPath(namespace, plural), body });
        return true;
      } catch (error) {
        if (hasStatus(error, 409)) return false;
        throw error;
      }
    },
    async patch(plural, { metadata: { name, resourceVersion, uid } }, change, subresource) {
      const path = buildPath(namespace, plural, name, subresource);
      const { metadata, ...rest } = change as { metadata?: object };
      const body = { ...rest, metadata: { ...metadata, resourceVersion, uid } };
      const send = () => write('patch', plural, { method: 'PATCH', path, body });
      if (subresource === 'status') await ownWrites.track(resourceKey(plural, name), send);
      else await send();
    },
    async remove(plural, { metadata: { name, uid, resourceVersion } }) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } };
      try {
        await write('delete', plural, { method: 'DELETE', path: buildPath(namespace, plural, name), body });
      } catch (error) {
        if (!hasStatus(error, 404)) throw error;
      }
    },
    recordEvent(kind, { metadata: { name, uid } }, { type, reason, message }) {
      const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
      const body = {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: `${name}.${nextStamp()}`, namespace },
        involvedObject: { apiVersion: API_VERSION, kind, name, namespace, uid },
        type,
        reason,
        message: message.slice(0, 1000),
        count: 1,
        firstTimestamp: now,
        lastTimestamp: now,
        source: { component: 'capstan-operator' },
      };
      if (waiting.push(body) > MAX_QUEUED_EVENTS) waiting.shift();
      sendEvents();
    },
    async flushEvents() {
      while (events.size > 0) await Promise.all(events);
    },
  };
}
