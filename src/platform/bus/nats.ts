import { AckPolicy, DeliverPolicy, DiscardPolicy, Events, RetentionPolicy, StorageType, connect, nanos } from 'nats';
import type { ConnectionOptions, JetStreamManager, NatsConnection } from 'nats';

import { errorText } from '../errors.ts';
import { omitUndefined } from '../records.ts';
import { withTimeout } from '../abort.ts';
import type { Bus, BusMessage } from './bus.ts';
import { EVENTS, requirePublishable, requireSendable } from './subject.ts';

const STREAM = 'CAPSTAN_EVENTS';
const MAX_AGE_MS = 3_600_000;
const DEDUPE_MS = 120_000;
const KEPT_PER_SUBJECT = 5_000;
/** What is older goes first: streams then resume from the database. JetStream reserves it on the server's disk. */
const MAX_BYTES = 512 * 1024 * 1024;

const ANSWER_MS = 5_000;
const PING_MS = 2_000;
const REPLAY_MS = 2_000;

/** User and password, or a token, may be part of the URL; `tls://` asks for an encrypted connection. */
function buildConnection(url: string): ConnectionOptions {
  const { host, protocol, username, password } = new URL(url);
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
  const account = pass ? { user, pass } : user ? { token: user } : {};
  return { servers: host, ...account, ...(protocol === 'tls:' ? { tls: {} } : {}) };
}

async function ensureStream(manager: JetStreamManager, replicas: number, maxBytes: number): Promise<void> {
  const limits = {
    subjects: [`${EVENTS}>`],
    max_age: nanos(MAX_AGE_MS),
    max_bytes: maxBytes,
    discard: DiscardPolicy.Old,
    duplicate_window: nanos(DEDUPE_MS),
    max_msgs_per_subject: KEPT_PER_SUBJECT,
    num_replicas: replicas,
  };
  const fixed = { name: STREAM, retention: RetentionPolicy.Limits, storage: StorageType.File };
  // Of two that add the same stream at once both succeed; what differs from before is an update.
  await manager.streams.add({ ...fixed, ...limits }).catch(() => manager.streams.update(STREAM, limits));
}

type NatsOptions = { url: string; replicas?: number; maxBytes?: number };

/** Ends when the connection does. */
async function watchStatus(connection: NatsConnection, onChange: (connected: boolean) => void): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === Events.Disconnect || type === Events.Reconnect) onChange(type === Events.Reconnect);
  }
}

/**
 * The bus between processes, on NATS with JetStream. `replicas` and `maxBytes` are of the stream. Reconnects forever; meanwhile `send`
 * drops, everything else throws within 5 s. Throws when there is no server at the start.
 */
export async function openNats({ url, replicas = 1, maxBytes = MAX_BYTES }: NatsOptions): Promise<Bus> {
  const connection = await connect({
    ...buildConnection(url),
    name: 'capstan',
    timeout: ANSWER_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    pingInterval: 5_000,
    maxPingOut: 2,
  }).catch((error: unknown) => {
    throw new Error(`NATS cannot be reached: ${errorText(error)}`, { cause: error });
  });
  let connected = true;
  void watchStatus(connection, (state) => (connected = state)).catch(() => {});
  const manager = await connection.jetstreamManager({ timeout: ANSWER_MS });
  await ensureStream(manager, replicas, maxBytes);
  const stream = connection.jetstream({ timeout: ANSWER_MS });

  /** While it is away the client would queue requests up and send them long after their callers gave up. */
  function requireConnection(): void {
    if (!connected || connection.isClosed()) throw new Error('NATS cannot be reached.');
  }

  /** Messages to read are counted when the consumer is made, so that the end is known without waiting for it. */
  async function replay(subject: string, since: Date): Promise<BusMessage[]> {
    requireConnection();
    const consumer = await manager.consumers.add(STREAM, {
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartTime,
      opt_start_time: since.toISOString(),
      filter_subject: subject,
      inactive_threshold: nanos(10_000),
      mem_storage: true,
      num_replicas: 1,
    });
    const count = Math.min(consumer.num_pending, KEPT_PER_SUBJECT);
    const messages: BusMessage[] = [];
    if (count > 0) {
      const reader = await stream.consumers.get(STREAM, consumer.name);
      for await (const message of await reader.fetch({ max_messages: count, expires: REPLAY_MS })) {
        if (messages.push({ subject, data: message.json() }) === count) break;
      }
    }
    void manager.consumers.delete(STREAM, consumer.name).catch(() => {});
    return messages;
  }

  return {
    send: (subject, data) => {
      requireSendable(subject);
      if (connected && !connection.isClosed()) connection.publish(subject, JSON.stringify(data));
    },
    publish: async (subject, data, id) => {
      requirePublishable(subject);
      requireConnection();
      await withTimeout(ANSWER_MS, stream.publish(subject, JSON.stringify(data), { msgID: id }), 'publishing to NATS');
    },
    subscribe: async (subject, handler, { queue } = {}) => {
      requireConnection();
      const subscription = connection.subscribe(subject, {
        ...omitUndefined({ queue }),
        callback: (error, message) => {
          if (error) return;
          try {
            handler({ subject: message.subject, data: message.json() });
          } catch (thrown) {
            process.emitWarning(thrown instanceof Error ? thrown : String(thrown));
          }
        },
      });
      try {
        await withTimeout(ANSWER_MS, connection.flush(), 'subscribing to NATS');
      } catch (error) {
        subscription.unsubscribe();
        throw error;
      }
      return { close: () => subscription.unsubscribe() };
    },
    replay,
    ping: async () => {
      requireConnection();
      await withTimeout(PING_MS, connection.flush(), 'a ping of NATS');
    },
    close: () => connection.close(),
  };
}
