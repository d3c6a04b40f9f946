import type { ServerResponse } from 'node:http';
import type { Answer, Call } from '../../../../platform/http/route.ts';
import type { pendingActionRoutes } from '../../../contract/routes/pending-actions.ts';
import type { EventDeps } from '../../deps.ts';
import { StreamConnection } from '../stream/connection.ts';
import { beginStream } from '../begin-stream.ts';
import { pickGrant } from '../grant.ts';
import type { OrganizationHub } from './hub.ts';
import type { OrganizationItem, OrganizationListener } from './topic.ts';

type Route = typeof pendingActionRoutes.streamOrganizationEvents;

function listen({ caller, query }: Call<Route>, response: ServerResponse): OrganizationListener {
  const connection = new StreamConnection(response);
  const { types, agentId, subjectId } = query;
  const isWanted = (item: OrganizationItem) =>
    (types === undefined || types.includes(item.type)) &&
    (agentId === undefined || item.agentId === agentId) &&
    (subjectId === undefined || item.subjectId === subjectId);
  return {
    grant: pickGrant(caller),
    take: (item) => {
      if (isWanted(item)) connection.write(item.frame);
    },
    end: () => connection.end(),
    tick: (now) => connection.tick(now),
  };
}

/** Handler of `GET /v1/events/stream`. */
export async function openOrganizationStream(
  deps: EventDeps,
  hub: OrganizationHub,
  call: Call<Route>,
): Promise<Answer> {
  const { request, reply, caller } = call;
  const response = reply.raw;
  const releaseSlot = deps.streamSlots.acquire(caller.keyId);
  const listener = listen(call, response);
  const topic = await hub.open(caller.organizationId).catch((error: unknown) => {
    releaseSlot();
    throw error;
  });
  const leave = () => {
    hub.leave(topic, listener);
    releaseSlot();
  };
  if (!beginStream(deps, request, reply, leave)) return 'hijacked';
  // After `reset` a client reads its lists again: it has missed something.
  // No await from here on, so that no frame is lost between the replay and the live frames.
  const position = request.headers['last-event-id'];
  const missed = typeof position === 'string' ? topic.listAfter(position) : [];
  if (missed === undefined) response.write(`retry: 1000\nevent: reset\nid: ${topic.position}\ndata: {}\n\n`);
  else response.write(missed.length > 0 ? 'retry: 1000\n\n' : `retry: 1000\nid: ${topic.position}\n\n`);
  for (const item of missed ?? []) listener.take(item);
  topic.listeners.add(listener);
  return 'hijacked';
}
