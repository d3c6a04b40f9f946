import type { FastifyInstance } from 'fastify';
import { buildCursorList } from '../contract/common.ts';
import { TEST_EVENT, webhookRoutes } from '../contract/webhooks.ts';
import type { Webhook } from '../contract/webhooks.ts';
import type { Egress } from '../egress/egress.ts';
import { explainRefusal } from '../egress/explain-refusal.ts';
import { makeWebhookSecret } from '../webhook-signature.ts';
import { errors } from '../errors.ts';
import { newId } from '../ids.ts';
import type { MasterKeys } from '../master-key.ts';
import { hasRoom } from '../store/own-limit.ts';
import {
  addDelivery,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listDeliveries,
  listWebhooks,
  redeliver,
  rotateSecret,
  updateWebhook,
  webhookContext,
} from '../store/webhooks.ts';
import type { Caller, HttpDeps, HttpPorts } from './deps.ts';
import { registerRoute } from './route.ts';

/** Of one organization: each event is stored once more for every webhook that wants it. */
const MAX_WEBHOOKS = 50;

type WebhookDeps = Pick<HttpPorts, 'db'> & HttpDeps & { masterKeys: MasterKeys; egress: Egress };

/** Throws `validation_error` for an address that deliveries would never reach. */
async function checkUrl(egress: Egress, url: string): Promise<void> {
  const refusal = await explainRefusal(egress, url);
  if (refusal !== undefined) throw errors.validation(`url: ${refusal}`);
}

export function registerWebhookRoutes(app: FastifyInstance, deps: WebhookDeps): void {
  const { db, masterKeys, egress } = deps;
  const getWebhook = async ({ organizationId }: Caller, id: string): Promise<Webhook> => {
    const webhook = await findWebhook(db, organizationId, id);
    if (webhook === undefined) throw errors.notFound('webhook');
    return webhook;
  };

  registerRoute(app, deps, webhookRoutes.createWebhook, async ({ body, caller }) => {
    await checkUrl(egress, body.url);
    const id = newId('whk');
    const text = makeWebhookSecret();
    const secret = masterKeys.seal(text, webhookContext(id));
    const { description = null, ...given } = body;
    const { organizationId } = caller;
    const webhook = await db.transaction(async (tx) => {
      if (!(await hasRoom(tx, 'webhooks', { organizationId, limit: MAX_WEBHOOKS }))) {
        throw errors.validation(`body: an organization has at most ${MAX_WEBHOOKS} webhooks`);
      }
      return insertWebhook(tx, organizationId, { ...given, description, id, secret });
    });
    return { status: 201, body: { ...webhook, secret: text } };
  });

  registerRoute(app, deps, webhookRoutes.listWebhooks, async ({ query, caller }) => {
    const { rows, nextCursor } = await listWebhooks(db, caller.organizationId, query);
    return { status: 200, body: buildCursorList(rows, query, nextCursor) };
  });

  registerRoute(app, deps, webhookRoutes.getWebhook, async ({ params, caller }) => ({
    status: 200,
    body: await getWebhook(caller, params.webhookId),
  }));

  registerRoute(app, deps, webhookRoutes.updateWebhook, async ({ params, body, caller }) => {
    if (body.url !== undefined) await checkUrl(egress, body.url);
    const webhook = await db.transaction((tx) => updateWebhook(tx, caller.organizationId, params.webhookId, body));
    if (webhook === undefined) throw errors.notFound('webhook');
    return { status: 200, body: webhook };
  });

  registerRoute(app, deps, webhookRoutes.deleteWebhook, async ({ params, caller }) => {
    if (!(await deleteWebhook(db, caller.organizationId, params.webhookId))) throw errors.notFound('webhook');
    return { status: 200, body: { object: 'webhook.deleted', id: params.webhookId, deleted: true } };
  });

  registerRoute(app, deps, webhookRoutes.rotateWebhookSecret, async ({ params, caller }) => {
    const text = makeWebhookSecret();
    const secret = masterKeys.seal(text, webhookContext(params.webhookId));
    const webhook = await rotateSecret(db, caller.organizationId, params.webhookId, secret);
    if (webhook === undefined) throw errors.notFound('webhook');
    return { status: 200, body: { ...webhook, secret: text } };
  });

  registerRoute(app, deps, webhookRoutes.testWebhook, async ({ params, caller }) => {
    const { id } = await getWebhook(caller, params.webhookId);
    return { status: 202, body: await addDelivery(db, caller.organizationId, id, TEST_EVENT) };
  });

  registerRoute(app, deps, webhookRoutes.listWebhookDeliveries, async ({ params, query, caller }) => {
    const { id } = await getWebhook(caller, params.webhookId);
    const { rows, nextCursor } = await listDeliveries(db, id, query);
    return { status: 200, body: buildCursorList(rows, query, nextCursor) };
  });

  registerRoute(app, deps, webhookRoutes.redeliverWebhook, async ({ params, caller }) => {
    const { id } = await getWebhook(caller, params.webhookId);
    const delivery = await redeliver(db, id, params.deliveryId);
    if (delivery === undefined) throw errors.notFound('delivery');
    return { status: 202, body: delivery };
  });
}
