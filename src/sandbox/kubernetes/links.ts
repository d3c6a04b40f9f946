import { setTimeout as sleep } from 'node:timers/promises';
import { EXECUTOR_PORT } from '../../platform/kubernetes/resource.ts';
import { openExecutorClient } from '../executor/client.ts';
import type { ExecutorClient } from '../executor/client.ts';
import { SandboxError } from '../sandbox.ts';
import type { SandboxNotice } from '../sandbox.ts';
import type { Signer } from '../executor/token.ts';

const HEALTH_MS = 2000;
const FOLLOW_AGAIN_MS = 1000;

/** What a status tells of a pod that can be called. */
export type Place = { podUid: string; podIP: string };

/** A connection to one pod. */
export type Link = {
  client: ExecutorClient;
  /** a call failed: its health is asked before it is handed out again */
  suspect: boolean;
  usedMs: number;
  /** calls under way */
  active: number;
  followed: boolean;
};

/** The executors that this process speaks to, by the UID of their pod. */
export function openLinks(signer: Signer, onNotice: (notice: SandboxNotice) => void) {
  const links = new Map<string, Link>();
  const closing = new AbortController();

  const buildAddress = ({ podUid, podIP }: Place) => ({
    target: { host: podIP, port: EXECUTOR_PORT },
    headers: () => ({ authorization: `Bearer ${signer.sign(podUid)}` }),
  });

  /** The workspace of the executor there, or undefined when it does not answer. */
  const probe = async (place: Place): Promise<string | undefined> => {
    const client = openExecutorClient(buildAddress(place), '/workspace');
    const late = sleep(HEALTH_MS, undefined, { ref: false });
    try {
      return (await Promise.race([client.health(), late]))?.workspace;
    } catch {
      return undefined;
    } finally {
      client.close();
    }
  };

  return {
    get: (podUid: string) => links.get(podUid),
    /** Undefined while the executor of that pod does not answer. */
    async reach(place: Place): Promise<Link | undefined> {
      const before = links.get(place.podUid);
      if (before !== undefined && !before.suspect) return before;
      const workspace = await probe(place);
      if (workspace === undefined) return undefined;
      // Somebody else may have been first.
      const known = links.get(place.podUid);
      if (known !== undefined) {
        known.suspect = false;
        return known;
      }
      const client = openExecutorClient(buildAddress(place), workspace);
      const link: Link = { client, suspect: false, usedMs: Date.now(), active: 0, followed: false };
      links.set(place.podUid, link);
      return link;
    },
    /** Hands the notices of a session's pod on, from its first acquisition until the link is forgotten. */
    follow(podUid: string, link: Link, sessionId: string): void {
      if (link.followed) return;
      link.followed = true;
      let told = 0;
      void (async () => {
        while (links.get(podUid) === link && !closing.signal.aborted) {
          await link.client
            .followNotices(({ sequence, processId, text }) => {
              if (sequence <= told) return;
              told = sequence;
              onNotice({ sessionId, processId, text });
            })
            .catch(() => undefined);
          await sleep(FOLLOW_AGAIN_MS, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
        }
      })();
    },
    /** Its calls under way fail. */
    forget(podUid: string | undefined): void {
      if (podUid === undefined) return;
      links.get(podUid)?.client.close();
      links.delete(podUid);
    },
    /** The methods of a client, each noting that the sandbox is in use, and telling `onEnd` when it is done. */
    track<T extends object>(podUid: string, link: Link, client: T, onEnd: () => void): T {
      return new Proxy(client, {
        get(client, name, receiver) {
          const member: unknown = Reflect.get(client, name, receiver);
          if (typeof member !== 'function') return member;
          return async (...args: unknown[]) => {
            if (links.get(podUid) !== link) throw new SandboxError('the sandbox has ended; acquire it again');
            link.active += 1;
            try {
              return await (member as (...args: unknown[]) => Promise<unknown>)(...args);
            } catch (error) {
              if (error instanceof SandboxError) link.suspect = true;
              throw error;
            } finally {
              link.active -= 1;
              link.usedMs = Date.now();
              onEnd();
            }
          };
        },
      });
    },
    close(): void {
      closing.abort();
      for (const { client } of links.values()) client.close();
      links.clear();
    },
  };
}
