import { setTimeout as sleep } from 'node:timers/promises';
import { EXECUTOR_PORT } from '../../platform/kubernetes/resource.ts';
import { openExecutorClient } from '../executor/client.ts';
import type { ExecutorClient } from '../executor/client.ts';
import type { CallGuard } from '../executor/guard.ts';
import { SandboxError, SandboxUnreachedError } from '../sandbox.ts';
import type { SandboxNotice } from '../sandbox.ts';
import type { Signer } from '../executor/token.ts';

const HEALTH_TIMEOUT_MS = 2000;
const FOLLOW_RETRY_MS = 1000;

/** Where a pod accepts calls, from the status of its Session or Volume. */
export type PodAddress = { podUid: string; podIP: string };

/** A connection to the executor of one pod. */
export type Connection = {
  podUid: string;
  client: ExecutorClient;
  /** a call failed: check the executor's health before the next use */
  suspect: boolean;
  usedMs: number;
  /** calls in progress */
  active: number;
  /** its notices are being followed */
  followed: boolean;
};

/** The connections of this process to executors, by UID of the pod. */
export class Connections {
  readonly #signer: Signer;
  readonly #onNotice: (notice: SandboxNotice) => void;
  readonly #connections = new Map<string, Connection>();
  readonly #closing = new AbortController();

  constructor(signer: Signer, onNotice: (notice: SandboxNotice) => void) {
    this.#signer = signer;
    this.#onNotice = onNotice;
  }

  get(podUid: string | undefined): Connection | undefined {
    return podUid === undefined ? undefined : this.#connections.get(podUid);
  }

  /** Undefined while the executor of that pod does not respond. */
  async connect(address: PodAddress): Promise<Connection | undefined> {
    const { podUid } = address;
    const existing = this.#connections.get(podUid);
    if (existing !== undefined && !existing.suspect) return existing;
    const workspace = await this.#probe(address);
    if (workspace === undefined) return undefined;
    // Another caller may have connected meanwhile.
    const known = this.#connections.get(podUid);
    if (known !== undefined) {
      known.suspect = false;
      return known;
    }
    const client = openExecutorClient(this.#buildAddress(address), workspace);
    const connection = { podUid, client, suspect: false, usedMs: Date.now(), active: 0, followed: false };
    this.#connections.set(podUid, connection);
    return connection;
  }

  /** Passes on the notices of a session's pod, from the first call until the pod is disconnected. */
  follow(connection: Connection, sessionId: string): void {
    if (connection.followed) return;
    connection.followed = true;
    void this.#followNotices(connection, sessionId);
  }

  /** Calls in progress fail. */
  disconnect(podUid: string | undefined): void {
    if (podUid === undefined) return;
    this.#connections.get(podUid)?.client.close();
    this.#connections.delete(podUid);
  }

  /** Counts each call as use of the connection and rejects calls after a disconnect. `onEnd` runs after each call. */
  buildGuard(connection: Connection, onEnd: () => void): CallGuard {
    return async (work) => {
      if (this.#connections.get(connection.podUid) !== connection) {
        throw new SandboxUnreachedError('the sandbox has ended; acquire it again');
      }
      connection.active += 1;
      try {
        return await work();
      } catch (error) {
        if (error instanceof SandboxError) connection.suspect = true;
        throw error;
      } finally {
        connection.active -= 1;
        connection.usedMs = Date.now();
        onEnd();
      }
    };
  }

  close(): void {
    this.#closing.abort();
    for (const { client } of this.#connections.values()) client.close();
    this.#connections.clear();
  }

  #buildAddress({ podUid, podIP }: PodAddress) {
    return {
      target: { host: podIP, port: EXECUTOR_PORT },
      headers: () => ({ authorization: `Bearer ${this.#signer.sign(podUid)}` }),
    };
  }

  /** The workspace of that executor, or undefined when it does not respond. */
  async #probe(address: PodAddress): Promise<string | undefined> {
    const client = openExecutorClient(this.#buildAddress(address), '/workspace');
    const timeout = sleep(HEALTH_TIMEOUT_MS, undefined, { ref: false });
    try {
      return (await Promise.race([client.health(), timeout]))?.workspace;
    } catch {
      return undefined;
    } finally {
      client.close();
    }
  }

  async #followNotices(connection: Connection, sessionId: string): Promise<void> {
    const { signal } = this.#closing;
    let lastSequence = 0;
    while (this.#connections.get(connection.podUid) === connection && !signal.aborted) {
      await connection.client
        .followNotices(({ sequence, processId, text }) => {
          if (sequence <= lastSequence) return;
          lastSequence = sequence;
          this.#onNotice({ sessionId, processId, text, isExpected: undefined });
        })
        .catch(() => undefined);
      await sleep(FOLLOW_RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
