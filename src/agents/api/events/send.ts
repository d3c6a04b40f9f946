import type { FastifyRequest } from 'fastify';
import type { Queryable } from '../../../platform/db/db.ts';
import { readReference, writeReference } from '../../contract/attachments.ts';
import type { MessageAttachment } from '../../contract/attachments.ts';
import type { ErrorBody } from '../../../platform/contract/errors.ts';
import type { EventEnvelope, EventsSend } from '../../contract/events.ts';
import type { eventRoutes } from '../../contract/routes/sessions.ts';
import { errorText, errors } from '../../../platform/errors.ts';
import { omitUndefined } from '../../../platform/records.ts';
import { newId } from '../../../platform/ids.ts';
import { listPendingActions } from '../../store/pending-actions.ts';
import { deleteOldAnswers, findKeptAnswer, hashBody, keepAnswer } from '../../../platform/store/idempotency.ts';
import type { IdempotencyRef } from '../../../platform/store/idempotency.ts';
import { lockSession } from '../../store/inbox.ts';
import type { SendSession } from '../../store/inbox.ts';
import { rateLimitHeaders, subjectKey, takeAllowance } from '../../../platform/http/allowance.ts';
import type { EventDeps } from '../deps.ts';
import type { Caller } from '../../../platform/http/deps.ts';
import type { Answer, Call } from '../../../platform/http/route.ts';
import { actionId, isAnswer } from './answers.ts';
import { checkApprovers, checkSendable, identify } from '../approvers.ts';
import { checkAttachments } from './attachments/check.ts';
import type { AttachmentParser } from './attachments/parser.ts';
import { renderBody } from './attachments/stored.ts';
import { decideSend } from './decide-send.ts';
import { announcePlan, writePlan } from './write-plan.ts';

type Body = { object: 'list'; data: EventEnvelope[] };
type Idempotency = { ref: IdempotencyRef; bodySha256: string };
type Outcome = {
  status: number;
  body: Body;
  rateLimit: NonNullable<ErrorBody['rateLimit']>;
  announce: () => void;
  /** an earlier request did this already */
  isReplay: boolean;
};

const VISIBLE = /^[\x21-\x7e]{1,255}$/;
/** One in this many requests with a key deletes expired keys. */
const CLEANUP_EVERY = 200;

function readIdempotency(call: Call<typeof eventRoutes.sendEvents>): Idempotency | undefined {
  const key = call.request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !VISIBLE.test(key)) {
    throw errors.validation('header.idempotency-key: must be 1 to 255 visible characters');
  }
  const { organizationId } = call.caller;
  const ref = { organizationId, scope: `events:${call.params.sessionId}`, key };
  return { ref, bodySha256: hashBody(hideKeys(call.body)) };
}

/** The same attachments make the same request, wherever they are kept. */
function hideKeys(body: EventsSend): EventsSend {
  const hide = (attachment: MessageAttachment): MessageAttachment => {
    const reference = readReference(attachment.source.dataUrl);
    if (reference === undefined) return attachment;
    return { ...attachment, source: { type: 'data_url', dataUrl: writeReference({ ...reference, key: '-' }) } };
  };
  const events = body.events.map((event) =>
    event.type === 'user.message' && event.attachments !== undefined
      ? { ...event, attachments: event.attachments.map(hide) }
      : event,
  );
  return { ...body, events };
}

async function decide(tx: Queryable, { session, body, caller, http }: SendRequest) {
  await checkApprovers(tx, caller, session, body.events);
  const ids = body.events.filter(isAnswer).map(actionId);
  // A control phrase of a goal repeats what the session waits for.
  const isNeeded = ids.length > 0 || session.status === 'waiting_on_human';
  const actions = !isNeeded ? [] : await listPendingActions(tx, session.id, ids);
  const trace = http.trace && { ...http.trace, requestId: http.id };
  return decideSend({ ...session, sentBy: identify(caller), ...omitUndefined({ trace }) }, actions, body, newId);
}

type SendRequest = {
  session: SendSession;
  body: EventsSend;
  caller: Caller;
  http: Pick<FastifyRequest, 'id' | 'trace'>;
  idempotency: Idempotency | undefined;
  /** called with the points taken, which the caller refunds if the transaction fails */
  onPointsTaken(key: string, points: number): void;
};

/** Runs inside the transaction. */
async function apply(deps: EventDeps, tx: Queryable, request: SendRequest): Promise<Outcome> {
  const { session, idempotency } = request;
  const key = subjectKey('messages', session);
  const limit = session.messagesPerMinute;
  const take = (points: number) => takeAllowance(deps.limits, 'messages', { key, points, limit });
  const kept = idempotency && (await findKeptAnswer(tx, idempotency.ref));
  if (kept !== undefined) {
    if (kept.bodySha256 !== idempotency?.bodySha256) {
      throw errors.conflict('The Idempotency-Key was used with another body.');
    }
    return {
      status: kept.status,
      body: kept.response as Body,
      rateLimit: await take(0),
      announce: () => {},
      isReplay: true,
    };
  }
  const plan = await decide(tx, request);
  const rateLimit = await take(plan.points);
  request.onPointsTaken(key, plan.points);
  const written = await writePlan(tx, session, plan, identify(request.caller));
  const answer: Body = { object: 'list', data: written.answer };
  if (idempotency) {
    const isKept = await keepAnswer(tx, idempotency.ref, {
      bodySha256: idempotency.bodySha256,
      status: plan.status,
      response: answer,
    });
    if (!isKept) throw errors.conflict('The Idempotency-Key is in use.');
  }
  const announce = () => announcePlan(deps, session, plan, written);
  return { status: plan.status, body: answer, rateLimit, announce, isReplay: false };
}

/** Builds the handler of `POST /v1/sessions/{sessionId}/events`: all events of a request take effect, or none. */
export function buildSendEvents(
  deps: EventDeps,
  attachments: AttachmentParser,
): (call: Call<typeof eventRoutes.sendEvents>) => Promise<Answer> {
  let keyed = 0;

  function cleanUp(): void {
    keyed += 1;
    if (keyed % CLEANUP_EVERY !== 0) return;
    deleteOldAnswers(deps.db).catch((error: unknown) => {
      deps.log.warn({ error: errorText(error) }, 'old idempotency keys not deleted');
    });
  }

  return async (call) => {
    checkSendable(call.caller, call.body.events);
    const idempotency = readIdempotency(call);
    await checkAttachments(call.body, attachments.findStored(call.request));
    let refund = async () => {};
    const outcome = await deps.db
      .transaction(async (tx) => {
        const session = await lockSession(tx, call.caller.organizationId, call.params.sessionId);
        if (session === undefined) throw errors.notFound('session');
        return apply(deps, tx, {
          session,
          body: call.body,
          caller: call.caller,
          http: call.request,
          idempotency,
          onPointsTaken: (key, points) => (refund = () => deps.limits.refund(key, points)),
        });
      })
      .catch(async (error: unknown) => {
        await refund().catch((failure: unknown) => {
          deps.log.warn({ error: errorText(failure) }, 'message points not refunded');
        });
        throw error;
      });
    if (!outcome.isReplay) attachments.keep(call.request);
    outcome.announce();
    if (idempotency) cleanUp();
    const { body, headers } = renderBody(outcome.body, call.params.sessionId, deps.objects);
    return { status: outcome.status, body, headers: { ...headers, ...rateLimitHeaders(outcome.rateLimit) } };
  };
}
