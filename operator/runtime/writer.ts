import { API_VERSION } from '../../src/platform/kubernetes/resource.ts';
import type { ResourceMeta } from '../../src/platform/kubernetes/resource.ts';
import { errorText } from '../../src/platform/errors.ts';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';
import type { Kubernetes } from '../../src/platform/kubernetes/client.ts';
import { buildListPath, buildPath } from '../../src/platform/kubernetes/paths.ts';
import type { Plural } from '../../src/platform/kubernetes/paths.ts';
import type { Logger } from '../../src/platform/log.ts';
import type { Expectations } from './expectations.ts';
import type { Term } from './lease.ts';

type Named = { metadata: ResourceMeta };
export type Kind = 'Session' | 'Volume';

/** Every write of the operator. None begins or goes on after the term of its leader has ended, by the clock. */
export type Writer = {
  /** False when one of this name is there already. */
  create(plural: Plural, body: object & { metadata: { name: string } }): Promise<boolean>;
  /** Merge patch, only while the object is as it was read. Throws 409, 404. */
  patch(plural: Plural, object: Named, change: object, subresource?: 'status'): Promise<void>;
  /** Only the very object that was read, as it was read. One that is gone is a success; throws 409. */
  remove(plural: Plural, object: Named): Promise<void>;
  /** An Event for `kubectl describe`. Its loss harms nobody, so it is not waited for and never throws. */
  tell(kind: Kind, object: Named, event: { type: 'Normal' | 'Warning'; reason: string; message: string }): void;
  /** Resolves when all Events are out. */
  settled(): Promise<void>;
};

export type WriterOptions = {
  kubernetes: Kubernetes;
  namespace: string;
  term: Term;
  expectations: Expectations;
  log: Logger;
  onWrite?: (verb: string, plural: Plural) => void;
};

/** Events are many at once where sessions are; decisions go before them. */
const EVENTS_AT_ONCE = 8;
const EVENTS_WAITING = 5000;

let last = 0n;

/** Nanoseconds since 1970 as kubectl's own events have them, each later than the one before: it shows them in this order. */
function nextStamp(): string {
  const now = BigInt(Date.now()) * 1_000_000n;
  last = now > last ? now : last + 1n;
  return last.toString(16);
}

export const expectationKey = (plural: Plural, name: string): string => `${plural}/${name}`;

/** The plural and the name that a key was made of. */
export function splitKey(key: string): [plural: string, name: string] {
  const slash = key.indexOf('/');
  return [key.slice(0, slash), key.slice(slash + 1)];
}

export function buildWriter(options: WriterOptions): Writer {
  const { kubernetes, namespace, term, expectations } = options;
  const events = new Set<Promise<void>>();
  const waiting: object[] = [];

  const write = async (
    verb: 'create' | 'patch' | 'delete',
    plural: Plural,
    call: Parameters<Kubernetes['request']>[0],
  ): Promise<void> => {
    term.requireHeld();
    options.onWrite?.(verb, plural);
    const answer = await kubernetes.request<Partial<Named> & { kind?: string }>({
      ...call,
      signal: term.signal,
    });
    // A delete that is done at once answers with a Status, which has no version.
    const { name, resourceVersion } = answer.metadata ?? {};
    // Events are in no cache.
    if (name !== undefined && resourceVersion !== undefined && verb !== 'delete' && plural !== 'events') {
      expectations.expect(expectationKey(plural, name), resourceVersion);
    }
  };

  const sendEvents = (): void => {
    for (let body; events.size < EVENTS_AT_ONCE && (body = waiting.shift()) !== undefined;) {
      const sent = write('create', 'events', { method: 'POST', path: buildListPath(namespace, 'events'), body })
        .catch((error: unknown) => options.log.debug({ error: errorText(error) }, 'an event could not be told'))
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
      await write('patch', plural, { method: 'PATCH', path, body });
    },
    async remove(plural, { metadata: { name, uid, resourceVersion } }) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } };
      try {
        await write('delete', plural, { method: 'DELETE', path: buildPath(namespace, plural, name), body });
      } catch (error) {
        if (!hasStatus(error, 404)) throw error;
      }
    },
    tell(kind, { metadata: { name, uid } }, { type, reason, message }) {
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
      if (waiting.push(body) > EVENTS_WAITING) waiting.shift();
      sendEvents();
    },
    async settled() {
      while (events.size > 0) await Promise.all(events);
    },
  };
}
