import { errorText, errors } from '../../../../platform/errors.ts';
import { Ticker } from '../../../../platform/jobs/ticker.ts';
import { findLastSequences } from '../../../store/events.ts';
import { endUngranted } from '../grant.ts';
import { openTopic } from './topic.ts';
import type { Listener, StreamPorts, Topic } from './topic.ts';

/** The watched sessions of this process. All streams of a session share one watch, which ends with the last of them. */
export type Hub = {
  /** The listener hears everything from now on, also before this resolves. Rejects with `not_found`, or when the log cannot be read. */
  join(organizationId: string, sessionId: string, listener: Listener): Promise<void>;
  leave(sessionId: string, listener: Listener): void;
  counts(): { sessions: number; streams: number };
  /** Ends all streams. */
  close(): void;
};

export type HubOptions = {
  /** mean time between looks into the log for what the bus lost; default 3,000 */
  sweepMs?: number;
};

const TICK_MS = 1000;
const SWEEP_BATCH = 500;

export function openHub(ports: StreamPorts, { sweepMs = 3000 }: HubOptions = {}): Hub {
  const topics = new Map<string, Topic>();
  let closed = false;
  let sweepTimer: NodeJS.Timeout | undefined;

  function drop(topic: Topic): void {
    topic.close();
    if (topics.get(topic.sessionId) === topic) topics.delete(topic.sessionId);
  }

  function endAll(topic: Topic): void {
    drop(topic);
    for (const listener of topic.listeners) listener.end();
  }

  async function sweepBatch(batch: readonly Topic[]): Promise<void> {
    const ends = await findLastSequences(
      ports.db,
      batch.map((topic) => topic.sessionId),
    );
    for (const topic of batch) {
      const end = ends.get(topic.sessionId);
      if (end === undefined) endAll(topic);
      else topic.reach(end);
    }
  }

  async function sweep(): Promise<void> {
    const quiet = [...topics.values()].filter((topic) => !topic.takeNews());
    try {
      await endUngranted(
        ports.db,
        [...topics.values()].flatMap((topic) => [...topic.listeners]),
      );
      for (let from = 0; from < quiet.length; from += SWEEP_BATCH) {
        await sweepBatch(quiet.slice(from, from + SWEEP_BATCH));
      }
    } catch (error) {
      ports.log.debug({ error: errorText(error) }, 'streams not compared with the log');
    }
    planSweep();
  }

  function planSweep(): void {
    if (closed) return;
    sweepTimer = undefined;
    if (topics.size > 0) sweepTimer = setTimeout(() => void sweep(), sweepMs * (0.75 + Math.random() / 2)).unref();
  }

  // One clock for all streams: a timer for each would cost more than the stream.
  const ticker = new Ticker(TICK_MS, () => {
    const now = performance.now();
    for (const topic of topics.values()) for (const listener of topic.listeners) listener.tick(now);
    return topics.size > 0;
  });

  return {
    async join(organizationId, sessionId, listener) {
      if (closed) throw errors.unavailable('The server is closing.');
      const topic = topics.get(sessionId) ?? openTopic(ports, organizationId, sessionId);
      topics.set(sessionId, topic);
      ticker.start();
      if (sweepTimer === undefined) planSweep();
      topic.listeners.add(listener);
      try {
        await topic.ready;
      } catch (error) {
        topic.listeners.delete(listener);
        drop(topic);
        throw error;
      }
    },
    leave(sessionId, listener) {
      const topic = topics.get(sessionId);
      if (topic === undefined) return;
      topic.listeners.delete(listener);
      if (topic.listeners.size === 0) drop(topic);
    },
    counts() {
      let streams = 0;
      for (const topic of topics.values()) streams += topic.listeners.size;
      return { sessions: topics.size, streams };
    },
    close() {
      closed = true;
      ticker.stop();
      clearTimeout(sweepTimer);
      for (const topic of topics.values()) endAll(topic);
    },
  };
}
