import { errorText } from '../../platform/errors.ts';
import { buildWebhookHeaders } from '../../platform/webhook-signature.ts';
import type { LocalDelivery } from './delivery.ts';

export type ForwardOptions = {
  url: string;
  secret: string;
  /** Reads the whole event of a delivery; absent: deliveries hold ids only. */
  readEvent?: (sessionId: string, eventId: string) => Promise<unknown>;
};

/** `status`: null where the address did not answer; `error` says why. */
export type Forwarded = { delivery: LocalDelivery; status: number | null; error: string | null; ms: number };

const TIMEOUT_MS = 15_000;

/** Posts a delivery to the local address, signed. A failure is a result: the developer sees it and nothing is repeated. */
export async function forwardDelivery(delivery: LocalDelivery, options: ForwardOptions): Promise<Forwarded> {
  const started = performance.now();
  const end = (status: number | null, error: string | null): Forwarded => {
    return { delivery, status, error, ms: Math.round(performance.now() - started) };
  };
  try {
    const { id, type, timestamp, sessionId, eventId } = delivery;
    const event = eventId === null ? undefined : await options.readEvent?.(sessionId, eventId);
    const data = event === undefined ? delivery.data : { ...delivery.data, event };
    const body = JSON.stringify({ type, id, timestamp, data });
    const message = { id, timestamp: Math.floor(Date.now() / 1000), body };
    const response = await fetch(options.url, {
      method: 'POST',
      headers: buildWebhookHeaders([options.secret], message),
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return end(response.status, null);
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return end(null, errorText(cause) || 'not reachable');
  }
}
