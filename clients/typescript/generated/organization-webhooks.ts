// Generated from the contract by "npm run generate". Changes are lost.
import type { CallOptions } from '../options.ts';
import type { Timestamp } from './common.ts';

export type Webhook = {
  object: "webhook";
  id: string;
  url: string;
  events: "*" | Array<"session.status_running" | "session.status_idle" | "session.title_updated" | "session.compacted" | "agent.message" | "approval.requested" | "clarify.requested" | "custom_tool.requested" | "budget.threshold" | "login.awaiting_input" | "login.awaiting_external_action" | "login.succeeded" | "login.failed" | "credential.needs_attention" | "credential.healthy">;
  description: string | null;
  /** deliveries hold the whole event, not only its ids */
  fullEvent: boolean;
  enabled: boolean;
  /** why the service switched it off */
  disabledReason: string | null;
  failingSince: Timestamp | null;
  /** deliveries dropped because more than 10,000 were pending, since it was last switched on */
  droppedDeliveries: number;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

export type WebhookCreate = {
  url: string;
  events: "*" | Array<"session.status_running" | "session.status_idle" | "session.title_updated" | "session.compacted" | "agent.message" | "approval.requested" | "clarify.requested" | "custom_tool.requested" | "budget.threshold" | "login.awaiting_input" | "login.awaiting_external_action" | "login.succeeded" | "login.failed" | "credential.needs_attention" | "credential.healthy">;
  description?: string | undefined;
  fullEvent?: boolean | undefined;
  enabled?: boolean | undefined;
};

export type WebhookCreated = {
  object: "webhook";
  id: string;
  url: string;
  events: "*" | Array<"session.status_running" | "session.status_idle" | "session.title_updated" | "session.compacted" | "agent.message" | "approval.requested" | "clarify.requested" | "custom_tool.requested" | "budget.threshold" | "login.awaiting_input" | "login.awaiting_external_action" | "login.succeeded" | "login.failed" | "credential.needs_attention" | "credential.healthy">;
  description: string | null;
  /** deliveries hold the whole event, not only its ids */
  fullEvent: boolean;
  enabled: boolean;
  /** why the service switched it off */
  disabledReason: string | null;
  failingSince: Timestamp | null;
  /** deliveries dropped because more than 10,000 were pending, since it was last switched on */
  droppedDeliveries: number;
  createdAt: Timestamp;
  updatedAt: Timestamp;
  /** `whsec_…`; shown this once only */
  secret: string;
};

export type WebhookDelivery = {
  object: "webhook_delivery";
  /** `webhook-id` of every try */
  id: string;
  webhookId: string;
  type: string;
  sessionId: string | null;
  eventId: string | null;
  state: "pending" | "delivered" | "failed";
  attempts: number;
  nextAttemptAt: Timestamp | null;
  lastStatus: number | null;
  lastError: string | null;
  createdAt: Timestamp;
  deliveredAt: Timestamp | null;
};

export type WebhookPatch = {
  url?: string | undefined;
  events?: "*" | Array<"session.status_running" | "session.status_idle" | "session.title_updated" | "session.compacted" | "agent.message" | "approval.requested" | "clarify.requested" | "custom_tool.requested" | "budget.threshold" | "login.awaiting_input" | "login.awaiting_external_action" | "login.succeeded" | "login.failed" | "credential.needs_attention" | "credential.healthy"> | undefined;
  description?: string | null | undefined;
  fullEvent?: boolean | undefined;
  enabled?: boolean | undefined;
};

export type OrganizationwebhooksOperations = {
  /**
   * Tell an endpoint of events; the answer holds the secret that signs deliveries. `POST /v1/webhooks`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, payload_too_large, rate_limited, server_error, storage_full.
   */
  createWebhook(body: WebhookCreate, options?: CallOptions): Promise<WebhookCreated>;

  /**
   * The webhooks of the organization, newest first. `GET /v1/webhooks`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, rate_limited, server_error, storage_full.
   */
  listWebhooks(query?: { limit?: number | undefined; cursor?: string | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: Webhook[];
    pagination: {
      limit: number;
      hasMore: boolean;
      /** null on the last page */
      nextCursor: string | null;
    };
  }>;

  /**
   * One webhook. `GET /v1/webhooks/{webhookId}`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  getWebhook(webhookId: string, options?: CallOptions): Promise<Webhook>;

  /**
   * Change a webhook; `enabled: true` switches on one that was switched off. `PATCH /v1/webhooks/{webhookId}`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, not_found, payload_too_large, rate_limited, server_error, storage_full.
   */
  updateWebhook(webhookId: string, body: WebhookPatch, options?: CallOptions): Promise<Webhook>;

  /**
   * Delete a webhook with its deliveries. `DELETE /v1/webhooks/{webhookId}`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  deleteWebhook(webhookId: string, options?: CallOptions): Promise<{
    object: "webhook.deleted";
    id: string;
    deleted: true;
  }>;

  /**
   * Make a new secret; for 24 hours deliveries are signed with the old one too. `POST /v1/webhooks/{webhookId}/rotate-secret`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  rotateWebhookSecret(webhookId: string, options?: CallOptions): Promise<WebhookCreated>;

  /**
   * Send a delivery of the type `webhook.test`. `POST /v1/webhooks/{webhookId}/test`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  testWebhook(webhookId: string, options?: CallOptions): Promise<WebhookDelivery>;

  /**
   * The deliveries of the last 30 days, newest first. `GET /v1/webhooks/{webhookId}/deliveries`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  listWebhookDeliveries(webhookId: string, query?: { limit?: number | undefined; cursor?: string | undefined; state?: "pending" | "delivered" | "failed" | undefined }, options?: CallOptions): Promise<{
    object: "list";
    data: WebhookDelivery[];
    pagination: {
      limit: number;
      hasMore: boolean;
      /** null on the last page */
      nextCursor: string | null;
    };
  }>;

  /**
   * Send a delivery again, under the same id. `POST /v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver`
   *
   * Needs a key with the scope `admin`. Errors: validation_error, unauthorized, forbidden, not_found, rate_limited, server_error, storage_full.
   */
  redeliverWebhook(webhookId: string, deliveryId: string, options?: CallOptions): Promise<WebhookDelivery>;
};
