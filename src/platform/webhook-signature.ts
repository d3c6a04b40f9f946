import { createHmac, randomBytes } from 'node:crypto';

const SECRET_BYTES = 24;
/** As Standard Webhooks writes secrets: the key follows in base64. */
const PREFIX = 'whsec_';

export function makeWebhookSecret(): string {
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
}

export type WebhookMessage = { id: string; timestamp: number; body: string };

/** As Standard Webhooks signs: HMAC-SHA256 over id, time and body, by the secret behind its prefix. */
export function signWebhook(secret: string, { id, timestamp, body }: WebhookMessage): string {
  const key = Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** The headers of a delivery, signed by each of the secrets that are valid. */
export function buildWebhookHeaders(secrets: readonly string[], message: WebhookMessage): Record<string, string> {
  return {
    'content-type': 'application/json',
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': secrets.map((secret) => signWebhook(secret, message)).join(' '),
  };
}
