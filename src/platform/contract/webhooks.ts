import { z } from 'zod';
import { CursorPage, HttpUrl, Id, Timestamp, cursorListOf, deletedBody } from './common.ts';
import { defineRoute } from './route.ts';

/** The event types that an endpoint can subscribe to. */
export const WEBHOOK_EVENTS = [
  'session.status_running',
  'session.status_idle',
  'session.title_updated',
  'session.compacted',
  'agent.message',
  'approval.requested',
  'clarify.requested',
  'custom_tool.requested',
  'budget.threshold',
  'login.awaiting_input',
  'login.awaiting_external_action',
  'login.succeeded',
  'login.failed',
  'credential.needs_attention',
  'credential.healthy',
] as const;
type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Events of a session whose webhooks have another name. */
const RENAMED: Readonly<Record<string, WebhookEvent>> = {
  'agent.approval_request': 'approval.requested',
  'agent.clarify_request': 'clarify.requested',
  'agent.custom_tool_use': 'custom_tool.requested',
};

/** Whether `GET /v1/events/stream` tells of it. */
export function isStreamed(event: WebhookEvent): boolean {
  return !/^(?:login|credential)\./.test(event);
}

/** The webhook event for a type on `GET /v1/events/stream`; undefined: there is none. */
export function webhookTypeOf(type: string): WebhookEvent | undefined {
  return RENAMED[type] ?? WEBHOOK_EVENTS.find((event) => event === type);
}

/** The types on that stream for names of webhook events. */
export function listStreamTypes(events: readonly string[]): string[] {
  return events.map((event) => Object.entries(RENAMED).find(([, name]) => name === event)?.[0] ?? event);
}

/** Sent by `POST …/test` alone. */
export const TEST_EVENT = 'webhook.test';

const WebhookEvents = z.union([z.literal('*'), z.array(z.enum(WEBHOOK_EVENTS)).min(1).max(WEBHOOK_EVENTS.length)]);

export const Webhook = z
  .object({
    object: z.literal('webhook'),
    id: Id,
    url: z.string(),
    events: WebhookEvents,
    description: z.string().nullable(),
    fullEvent: z.boolean().describe('deliveries hold the whole event, not only its ids'),
    enabled: z.boolean(),
    disabledReason: z.string().nullable().describe('why the service switched it off'),
    failingSince: Timestamp.nullable(),
    droppedDeliveries: z
      .int()
      .describe('deliveries dropped because more than 10,000 were pending, since it was last switched on'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof Webhook>;

const Secret = { secret: z.string().describe('`whsec_…`; shown this once only') };
const WebhookCreated = Webhook.extend(Secret).meta({ id: 'WebhookCreated' });

const Description = z.string().max(500);
export const WebhookCreate = z
  .object({
    url: HttpUrl,
    events: WebhookEvents,
    description: Description.optional(),
    fullEvent: z.boolean().default(false),
    enabled: z.boolean().default(true),
  })
  .meta({ id: 'WebhookCreate' });
export type WebhookCreate = z.infer<typeof WebhookCreate>;

export const WebhookPatch = z
  .object({
    url: HttpUrl.optional(),
    events: WebhookEvents.optional(),
    description: Description.nullable().optional(),
    fullEvent: z.boolean().optional(),
    enabled: z.boolean().optional(),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), 'must change at least one field')
  .meta({ id: 'WebhookPatch' });
export type WebhookPatch = z.infer<typeof WebhookPatch>;

export const WebhookDelivery = z
  .object({
    object: z.literal('webhook_delivery'),
    id: Id.describe('`webhook-id` of every try'),
    webhookId: Id,
    type: z.string(),
    sessionId: Id.nullable(),
    eventId: Id.nullable(),
    state: z.enum(['pending', 'delivered', 'failed']),
    attempts: z.int(),
    nextAttemptAt: Timestamp.nullable(),
    lastStatus: z.int().nullable(),
    lastError: z.string().nullable(),
    createdAt: Timestamp,
    deliveredAt: Timestamp.nullable(),
  })
  .meta({ id: 'WebhookDelivery' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

const WebhookParams = z.object({ webhookId: Id });
const admin = { tag: 'Organization webhooks', scope: 'admin' } as const;
const ONE = '/v1/webhooks/{webhookId}';

export const webhookRoutes = {
  createWebhook: defineRoute({
    ...admin,
    id: 'createWebhook',
    method: 'POST',
    path: '/v1/webhooks',
    summary: 'Tell an endpoint of events; the answer holds the secret that signs deliveries',
    body: WebhookCreate,
    responses: { 201: WebhookCreated },
    errors: [],
  }),
  listWebhooks: defineRoute({
    ...admin,
    id: 'listWebhooks',
    method: 'GET',
    path: '/v1/webhooks',
    summary: 'The webhooks of the organization, newest first',
    query: CursorPage,
    responses: { 200: cursorListOf(Webhook) },
    errors: [],
  }),
  getWebhook: defineRoute({
    ...admin,
    id: 'getWebhook',
    method: 'GET',
    path: ONE,
    summary: 'One webhook',
    params: WebhookParams,
    responses: { 200: Webhook },
    errors: ['not_found'],
  }),
  updateWebhook: defineRoute({
    ...admin,
    id: 'updateWebhook',
    method: 'PATCH',
    path: ONE,
    summary: 'Change a webhook; `enabled: true` switches on one that was switched off',
    params: WebhookParams,
    body: WebhookPatch,
    responses: { 200: Webhook },
    errors: ['not_found'],
  }),
  deleteWebhook: defineRoute({
    ...admin,
    id: 'deleteWebhook',
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a webhook with its deliveries',
    params: WebhookParams,
    responses: { 200: deletedBody('webhook.deleted') },
    errors: ['not_found'],
  }),
  rotateWebhookSecret: defineRoute({
    ...admin,
    id: 'rotateWebhookSecret',
    method: 'POST',
    path: `${ONE}/rotate-secret`,
    summary: 'Make a new secret; for 24 hours deliveries are signed with the old one too',
    params: WebhookParams,
    responses: { 200: WebhookCreated },
    errors: ['not_found'],
  }),
  testWebhook: defineRoute({
    ...admin,
    id: 'testWebhook',
    method: 'POST',
    path: `${ONE}/test`,
    summary: 'Send a delivery of the type `webhook.test`',
    params: WebhookParams,
    responses: { 202: WebhookDelivery },
    errors: ['not_found'],
  }),
  listWebhookDeliveries: defineRoute({
    ...admin,
    id: 'listWebhookDeliveries',
    method: 'GET',
    path: `${ONE}/deliveries`,
    summary: 'The deliveries of the last 30 days, newest first',
    params: WebhookParams,
    query: CursorPage.extend({ state: WebhookDelivery.shape.state.optional() }),
    responses: { 200: cursorListOf(WebhookDelivery) },
    errors: ['not_found'],
  }),
  redeliverWebhook: defineRoute({
    ...admin,
    id: 'redeliverWebhook',
    method: 'POST',
    path: `${ONE}/deliveries/{deliveryId}/redeliver`,
    summary: 'Send a delivery again, under the same id',
    params: WebhookParams.extend({ deliveryId: Id }),
    responses: { 202: WebhookDelivery },
    errors: ['not_found'],
  }),
};
