// Tests: test/agents/api/events/reconnect.test.ts
import { errorText } from '../platform/errors.ts';
import type { EventEnvelope } from './contract/events.ts';
import type { Logger } from '../platform/log.ts';
import type { Bus, Subscription } from '../platform/bus/bus.ts';

/** An envelope, or only its place in the log when it is too large to travel: the reader fetches it there. */
export type LiveEvent = EventEnvelope | { sequence: number };

/** Tells the worker that holds the session that something came in for the live turn. */
export type Control = { sessionId: string; kind: 'steer' | 'interrupt' };

const MAX_MESSAGE_BYTES = 512 * 1024;
const events = (organizationId: string, sessionId: string) => `capstan.events.${organizationId}.${sessionId}`;
const deltas = (organizationId: string, sessionId: string) => `capstan.deltas.${organizationId}.${sessionId}`;
const WAKE = 'capstan.wake';
const CONTROL = 'capstan.control';
const SERVER_ANSWERED = 'capstan.mcp.answered';

/** Notifies watchers of committed events. Never throws: watchers find lost notifications in the log. */
export function publishEvents(
  bus: Bus,
  log: Logger,
  organizationId: string,
  envelopes: readonly EventEnvelope[],
): void {
  for (const envelope of envelopes) {
    const size = JSON.stringify(envelope.payload).length;
    const message: LiveEvent = size > MAX_MESSAGE_BYTES ? { sequence: envelope.sequence } : envelope;
    bus.publish(events(organizationId, envelope.sessionId), message, envelope.id).catch((error: unknown) => {
      log.debug({ sessionId: envelope.sessionId, error: errorText(error) }, 'live event not stored by the bus');
    });
  }
}

/**
 * An event that lives on the bus only, kept for an hour: `session.tool_updated`. One that is too large travels without
 * its new payload, which the reader finds in the log under `event_id`.
 */
export function publishEphemeral(bus: Bus, log: Logger, organizationId: string, envelope: EventEnvelope): void {
  const { payload, ...patch } = envelope.payload;
  const fits = JSON.stringify(payload ?? null).length <= MAX_MESSAGE_BYTES / 2;
  publishEvents(bus, log, organizationId, [fits ? envelope : { ...envelope, payload: patch }]);
}

/** A frame that is not stored: deltas and tool calls in preparation. */
export function sendDelta(bus: Bus, organizationId: string, envelope: EventEnvelope): void {
  bus.send(deltas(organizationId, envelope.sessionId), envelope);
}

/** Durable and ephemeral events and deltas of one session, from now on. */
export async function watchSession(
  bus: Bus,
  organizationId: string,
  sessionId: string,
  handlers: { onEvent: (event: LiveEvent) => void; onDelta: (delta: EventEnvelope) => void },
): Promise<Subscription> {
  const subscriptions = await Promise.all([
    bus.subscribe(events(organizationId, sessionId), ({ data }) => handlers.onEvent(data as LiveEvent)),
    bus.subscribe(deltas(organizationId, sessionId), ({ data }) => handlers.onDelta(data as EventEnvelope)),
  ]);
  return { close: () => subscriptions.forEach((subscription) => subscription.close()) };
}

/** Durable events of all sessions of an organization, from now on. */
export function watchOrganization(
  bus: Bus,
  organizationId: string,
  handler: (event: { sessionId: string; sequence: number }) => void,
): Promise<Subscription> {
  return bus.subscribe(`capstan.events.${organizationId}.>`, ({ subject, data }) => {
    const event = data as LiveEvent;
    // It patches an earlier event and has no place of its own in the log.
    if ('type' in event && event.type === 'session.tool_updated') return;
    handler({ sessionId: subject.slice(subject.lastIndexOf('.') + 1), sequence: event.sequence });
  });
}

/** What the bus still holds of a session's events since then. */
export async function replaySession(
  bus: Bus,
  organizationId: string,
  sessionId: string,
  since: Date,
): Promise<LiveEvent[]> {
  const messages = await bus.replay(events(organizationId, sessionId), since);
  return messages.map((message) => message.data as LiveEvent);
}

/** Tells one worker that a session has work; a slow poll of the database covers a loss. */
export function sendWake(bus: Bus, sessionId: string): void {
  bus.send(WAKE, { sessionId });
}

export function onWake(bus: Bus, handler: (sessionId: string) => void): Promise<Subscription> {
  return bus.subscribe(WAKE, ({ data }) => handler((data as { sessionId: string }).sessionId), { queue: 'workers' });
}

/** A server that workers may remember as unavailable has answered. */
export type AnsweredServer = { agentId: string; url: string };

export function sendServerAnswered(bus: Bus, server: AnsweredServer): void {
  bus.send(SERVER_ANSWERED, server);
}

export function onServerAnswered(bus: Bus, handler: (server: AnsweredServer) => void): Promise<Subscription> {
  return bus.subscribe(SERVER_ANSWERED, ({ data }) => handler(data as AnsweredServer));
}

export function sendControl(bus: Bus, control: Control): void {
  bus.send(CONTROL, control);
}

export function onControl(bus: Bus, handler: (control: Control) => void): Promise<Subscription> {
  return bus.subscribe(CONTROL, ({ data }) => handler(data as Control));
}
