import { createHash } from 'node:crypto';
import { z } from 'zod';
import { webhookTypeOf } from '../../platform/contract/webhooks.ts';

/** A frame of `GET /v1/events/stream`, as far as deliveries need it. */
const Frame = z.object({
  id: z.string(),
  type: z.string(),
  sessionId: z.string().nullable(),
  agentId: z.string().nullable(),
  subjectId: z.string().nullable(),
  createdAt: z.string(),
  sequence: z.number().nullish(),
  threshold: z.number().optional(),
  budget: z.record(z.string(), z.unknown()).optional(),
});

/** What a webhook would be sent for a frame. */
export type LocalDelivery = {
  id: string;
  type: string;
  /** deliveries of one session keep their order; empty: of none */
  sessionId: string;
  eventId: string | null;
  timestamp: string;
  data: Record<string, unknown>;
};

/** The delivery of a frame in the shape that webhooks have; undefined where webhooks are told of nothing. */
export function readDelivery(text: string): LocalDelivery | undefined {
  const parsed = Frame.safeParse(JSON.parse(text));
  if (!parsed.success) return undefined;
  const { id, sessionId, agentId, subjectId, createdAt, sequence, threshold, budget } = parsed.data;
  const type = webhookTypeOf(parsed.data.type);
  if (type === undefined) return undefined;
  const eventId = typeof sequence === 'number' ? id : null;
  const more = threshold === undefined ? {} : { threshold, budget };
  return {
    // The same for every listener, and after a reconnect.
    id: `msg_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`,
    type,
    sessionId: sessionId ?? '',
    eventId,
    timestamp: createdAt,
    data: { sessionId, agentId, subjectId, eventId, ...more },
  };
}
