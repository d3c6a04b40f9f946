import type { eventRoutes } from '../../contract/routes/sessions.ts';
import { errors } from '../../../platform/errors.ts';
import { findLogEnd, listEvents } from '../../store/events.ts';
import type { ApiDeps } from '../deps.ts';
import type { Answer, Call } from '../../../platform/http/route.ts';
import { renderBody } from './attachments/stored.ts';

/** Handler of `GET /v1/sessions/{sessionId}/events`. */
export async function sendEventList(deps: ApiDeps, call: Call<typeof eventRoutes.listEvents>): Promise<Answer> {
  const { sessionId } = call.params;
  const { after, limit } = call.query;
  const end = await findLogEnd(deps.db, call.caller.organizationId, sessionId);
  if (end === undefined) throw errors.notFound('session');
  const found = end <= after ? [] : await listEvents(deps.db, sessionId, after, limit + 1);
  const data = found.slice(0, limit);
  const pagination = { after: data.at(-1)?.sequence ?? after, hasMore: found.length > limit, limit };
  return { status: 200, ...renderBody({ object: 'list', data, pagination }, sessionId, deps.objects) };
}
