import type { FastifyInstance } from 'fastify';
import { eventRoutes } from '../../contract/routes/sessions.ts';
import type { EventDeps } from '../deps.ts';
import { registerRoute } from '../../../platform/http/route.ts';
import { registerAttachmentParser } from './attachments/parser.ts';
import { sendAttachment, sendEvent, sendEventList } from './list.ts';
import { buildSendEvents } from './send.ts';
import { openHub } from './stream/hub.ts';
import { openEventStream } from './stream/stream-route.ts';

/** Puts the events of sessions on the server: send, history, live stream. */
export function registerEventRoutes(app: FastifyInstance, deps: EventDeps): void {
  const hub = openHub(deps);
  deps.closing.addEventListener('abort', () => hub.close(), { once: true });
  void app.register(async (scope) => {
    const attachments = registerAttachmentParser(scope, deps);
    registerRoute(scope, deps, eventRoutes.sendEvents, buildSendEvents(deps, attachments));
  });
  registerRoute(app, deps, eventRoutes.listEvents, (call) => sendEventList(deps, call));
  registerRoute(app, deps, eventRoutes.getEvent, (call) => sendEvent(deps, call));
  registerRoute(app, deps, eventRoutes.getEventAttachment, (call) => sendAttachment(deps, call));
  registerRoute(app, deps, eventRoutes.streamEvents, (call) => openEventStream(deps, hub, call));
}
