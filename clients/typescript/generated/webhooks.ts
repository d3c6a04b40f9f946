// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';

export type WebhookSecret = {
  secret: string;
};

export type WebhooksOperations = {
  /**
   * The secret that signs calls of `webhookUrl`. `GET /api/webhooks/secret`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  getWebhookSecret(options?: CallOptions): Promise<{
    data: WebhookSecret;
  }>;
};
