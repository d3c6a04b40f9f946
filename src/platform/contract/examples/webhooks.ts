import { ID, LATER, TIME, cursorListExample } from './example.ts';
import type { Example } from './example.ts';

const webhook = {
  object: 'webhook',
  id: 'whk_01kg9e6hq2c3d4e5f6g7h8j9kz',
  url: 'https://hooks.example/capstan',
  events: ['session.status_idle', 'approval.requested'],
  description: 'support desk',
  fullEvent: false,
  enabled: true,
  disabledReason: null,
  droppedDeliveries: 0,
  failingSince: null,
  createdAt: TIME,
  updatedAt: TIME,
};
const created = { ...webhook, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' };
const delivery = {
  object: 'webhook_delivery',
  id: 'msg_2b7f3f0c9a3e4f1f8f0f5d6c7b8a9e10',
  webhookId: webhook.id,
  type: 'session.status_idle',
  sessionId: ID.session,
  eventId: ID.idle,
  state: 'delivered',
  attempts: 1,
  nextAttemptAt: null,
  lastStatus: 204,
  lastError: null,
  createdAt: TIME,
  deliveredAt: LATER,
};
const pending = {
  ...delivery,
  state: 'pending',
  attempts: 0,
  nextAttemptAt: TIME,
  lastStatus: null,
  deliveredAt: null,
};

export const webhookExamples: Record<string, Example> = {
  createWebhook: {
    body: { url: webhook.url, events: webhook.events, description: webhook.description },
    answers: { 201: created },
  },
  listWebhooks: { answers: { 200: cursorListExample(webhook) } },
  getWebhook: { answers: { 200: webhook } },
  updateWebhook: { body: { enabled: false }, answers: { 200: { ...webhook, enabled: false } } },
  deleteWebhook: { answers: { 200: { object: 'webhook.deleted', id: webhook.id, deleted: true } } },
  rotateWebhookSecret: { answers: { 200: created } },
  testWebhook: {
    answers: { 202: { ...pending, type: 'webhook.test', sessionId: null, eventId: null } },
  },
  listWebhookDeliveries: { query: { state: 'delivered' }, answers: { 200: cursorListExample(delivery) } },
  redeliverWebhook: { answers: { 202: pending } },
};
