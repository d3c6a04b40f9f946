import { Ticker } from '../../../../platform/jobs/ticker.ts';
import { errorText, errors } from '../../../../platform/errors.ts';
import { endUngranted } from '../grant.ts';
import { OrganizationTopic } from './topic.ts';
import type { OrganizationListener, OrganizationPorts } from './topic.ts';

/** The watched organizations of this process. */
export type OrganizationHub = {
  /** Resolves once news of the organization arrives here; the caller adds its listener. */
  open(organizationId: string): Promise<OrganizationTopic>;
  leave(topic: OrganizationTopic, listener: OrganizationListener): void;
  /** Ends all streams. */
  close(): void;
};

const TICK_MS = 1000;
const SWEEP_MS = 3000;
/** How long a topic without listeners is kept, so that a disconnected client can resume. */
const LINGER_MS = 60_000;

export function openOrganizationHub(ports: OrganizationPorts): OrganizationHub {
  const topics = new Map<string, OrganizationTopic>();
  const leaving = new Map<OrganizationTopic, NodeJS.Timeout>();
  let closed = false;

  function drop(topic: OrganizationTopic): void {
    clearTimeout(leaving.get(topic));
    leaving.delete(topic);
    topic.close();
    if (topics.get(topic.organizationId) === topic) topics.delete(topic.organizationId);
  }

  async function sweep(): Promise<void> {
    try {
      await endUngranted(
        ports.db,
        [...topics.values()].flatMap((topic) => [...topic.listeners]),
      );
      for (const topic of topics.values()) if (topic.listeners.size > 0) await topic.sweep();
    } catch (error) {
      ports.log.debug({ error: errorText(error) }, 'streams of organizations not compared with the log');
    }
  }

  const tickers = [
    new Ticker(TICK_MS, () => {
      const now = performance.now();
      for (const topic of topics.values()) for (const listener of topic.listeners) listener.tick(now);
      return topics.size > 0;
    }),
    new Ticker(SWEEP_MS, () => {
      void sweep();
      return topics.size > 0;
    }),
  ];

  return {
    async open(organizationId) {
      if (closed) throw errors.unavailable('The server is closing.');
      const topic = topics.get(organizationId) ?? new OrganizationTopic(ports, organizationId);
      topics.set(organizationId, topic);
      for (const ticker of tickers) ticker.start();
      clearTimeout(leaving.get(topic));
      leaving.delete(topic);
      try {
        await topic.ready;
      } catch (error) {
        drop(topic);
        throw errors.unavailable('Events cannot be followed at the moment.', error);
      }
      return topic;
    },
    leave(topic, listener) {
      topic.listeners.delete(listener);
      if (topic.listeners.size > 0 || leaving.has(topic)) return;
      leaving.set(topic, setTimeout(() => drop(topic), LINGER_MS).unref());
    },
    close() {
      closed = true;
      for (const ticker of tickers) ticker.stop();
      for (const topic of topics.values()) {
        for (const listener of topic.listeners) listener.end();
        drop(topic);
      }
    },
  };
}
