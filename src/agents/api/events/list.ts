import { Readable } from 'node:stream';
import type { Objects } from '../../../platform/objects/objects.ts';
import { decodeDataUrl, dataUrlMediaType, readReference } from '../../contract/attachments.ts';
import type { MessageAttachment } from '../../contract/attachments.ts';
import type { EventEnvelope } from '../../contract/events.ts';
import type { eventRoutes } from '../../contract/routes/sessions.ts';
import { errors } from '../../../platform/errors.ts';
import { searchEvents } from '../../store/event-list.ts';
import { findEvent, findLogEnd, listEvents } from '../../store/events.ts';
import type { EventDeps } from '../deps.ts';
import type { Caller } from '../../../platform/http/deps.ts';
import type { Answer, Call } from '../../../platform/http/route.ts';
import { checkReadable } from '../approvers.ts';
import { renderBody } from './attachments/stored.ts';
import { listAttachments, omitAttachments } from './attachments/summary.ts';

async function getLogEnd(deps: EventDeps, caller: Caller, sessionId: string): Promise<number> {
  const end = await findLogEnd(deps.db, caller.organizationId, sessionId);
  if (end === undefined) throw errors.notFound('session');
  await checkReadable(deps.db, caller, sessionId);
  return end;
}

async function getEvent(
  deps: EventDeps,
  caller: Caller,
  { sessionId, eventId }: { sessionId: string; eventId: string },
): Promise<EventEnvelope> {
  await getLogEnd(deps, caller, sessionId);
  const event = await findEvent(deps.db, sessionId, eventId);
  if (event === undefined) throw errors.notFound('event');
  return event;
}

/** Handler of `GET /v1/sessions/{sessionId}/events`. */
export async function sendEventList(deps: EventDeps, call: Call<typeof eventRoutes.listEvents>): Promise<Answer> {
  const { sessionId } = call.params;
  const { query } = call;
  const { after, before, limit, order } = query;
  const end = await getLogEnd(deps, call.caller, sessionId);
  const isPlain =
    order === 'asc' && [before, query.types, query.threadId, query.q].every((filter) => filter === undefined);
  let found: EventEnvelope[] = [];
  if (end > after) {
    found = isPlain
      ? await listEvents(deps.db, sessionId, after, limit + 1)
      : await searchEvents(deps.db, sessionId, { ...query, limit: limit + 1 });
  }
  const page = found.slice(0, limit);
  const last = page.at(-1)?.sequence;
  const pagination = {
    ...(order === 'asc' ? { after: last ?? after } : { after, before: last ?? before ?? after + 1 }),
    hasMore: found.length > limit,
    limit,
  };
  const data = query.attachments === 'omit' ? page.map(omitAttachments) : page;
  return { status: 200, ...renderBody({ object: 'list', data, pagination }, sessionId, deps.objects) };
}

/** Handler of `GET /v1/sessions/{sessionId}/events/{eventId}`. */
export async function sendEvent(deps: EventDeps, call: Call<typeof eventRoutes.getEvent>): Promise<Answer> {
  const event = await getEvent(deps, call.caller, call.params);
  const body = call.query.attachments === 'omit' ? omitAttachments(event) : event;
  return { status: 200, ...renderBody(body, call.params.sessionId, deps.objects) };
}

async function openAttachment(
  objects: Objects,
  dataUrl: string,
): Promise<{ mediaType: string; bytes: Readable | Uint8Array; length: number } | undefined> {
  const reference = readReference(dataUrl);
  if (reference === undefined) {
    const bytes = decodeDataUrl(dataUrl);
    return { mediaType: dataUrlMediaType(dataUrl) ?? 'application/octet-stream', bytes, length: bytes.length };
  }
  const found = await objects.get(reference.key);
  return found && { mediaType: reference.mediaType, bytes: found.body, length: reference.sizeBytes };
}

/** Pictures may be shown by a browser; everything else is saved. */
function describeBytes({ filename }: MessageAttachment, mediaType: string): Record<string, string> {
  const kind = mediaType.startsWith('image/') ? 'inline' : 'attachment';
  return {
    'content-type': mediaType,
    'content-disposition': `${kind}; filename*=UTF-8''${encodeURIComponent(filename).replaceAll("'", '%27')}`,
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, max-age=86400, immutable',
  };
}

/** Handler of `GET /v1/sessions/{sessionId}/events/{eventId}/attachments/{index}`. */
export async function sendAttachment(
  deps: EventDeps,
  call: Call<typeof eventRoutes.getEventAttachment>,
): Promise<Answer> {
  const event = await getEvent(deps, call.caller, call.params);
  const attachment = listAttachments(event)[Number(call.params.index)];
  const opened = attachment && (await openAttachment(deps.objects, attachment.source.dataUrl));
  if (attachment === undefined || opened === undefined) throw errors.notFound('attachment');
  const { mediaType, bytes, length } = opened;
  const body = bytes instanceof Readable ? bytes : Buffer.from(bytes);
  return {
    status: 200,
    body,
    headers: { ...describeBytes(attachment, mediaType), 'content-length': String(length) },
  };
}
