import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Reservation } from '../platform/budgets/budgets.ts';
import { errors } from '../platform/errors.ts';
import type { Caller } from '../platform/http/deps.ts';
import { estimateWorstCost } from '../inference/budgeted.ts';
import { estimateTokens } from '../inference/estimate.ts';
import type { ModelDelta, ModelRequest, ModelUsage } from '../inference/model.ts';
import { inferenceOf, requireModel } from './allowed-models.ts';
import { readBody } from './body.ts';
import { ClientGoneError, watchClient } from './client-gone.ts';
import type { GatewayDeps } from './deps.ts';
import type { ClientCall, ClientDialect, FrameWriter, ResponseMeta } from './dialects/dialect.ts';
import { listIgnored } from './fields/apply.ts';
import { decideFault, logGatewayError } from './errors.ts';
import { finishReply } from './finish-reply.ts';
import { findPassThrough, readOptions, sendRequestId } from './forward-call.ts';
import { invalid } from './gateway-error.ts';
import { buildReplyCheck, describeCall, holdStream, inspectRequest, inspectText } from './hooks/inspect.ts';
import type { ResponseGuard } from './hooks/hooks.ts';
import type { CachedCall } from './response-cache.ts';
import { buildSequencer, collectSequence } from './sequence.ts';
import type { ReplyEvent } from './sequence.ts';
import { collectPassThrough, writePassThrough } from './pass-through.ts';
import type { PassThroughReply } from './pass-through.ts';
import { openClientStream } from './stream.ts';
import { startMeter } from './usage/meter.ts';
import { readTags } from './usage/request-log.ts';
import { openCallSpan } from './usage/call-span.ts';
import type { Meter } from './usage/meter.ts';

/** Request headers in which coding clients send a session id; it serves as the cache key. */
const SESSION_HEADERS = ['x-claude-code-session-id', 'session-id', 'x-session-id'];

function findSession({ headers }: FastifyRequest): string | undefined {
  const name = SESSION_HEADERS.find((each) => typeof headers[each] === 'string' && headers[each] !== '');
  return name === undefined ? undefined : String(headers[name]).slice(0, 256);
}

function hasImages({ messages }: ModelRequest): boolean {
  const isImage = (part: { type: string }) => part.type !== 'text';
  return messages.some((message) => {
    if (message.role === 'user') return message.content.some(isImage);
    return message.role === 'tool' && message.results.some((result) => result.content.some(isImage));
  });
}

/** Rejects requests that no upstream of the model could serve. */
function checkModel(deps: GatewayDeps, dialect: ClientDialect, request: ModelRequest, http: FastifyRequest): void {
  for (const name of [request.model, ...(request.fallbackModels ?? [])]) {
    const info = requireModel(deps, http, name);
    if (!info.vision && dialect.rejectsImagesForTextModels && hasImages(request)) {
      throw invalid('model', 'the model accepts text only, but the conversation contains an image or a file');
    }
  }
}

const NO_USAGE: ModelUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

function readSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

type Task = {
  dialect: ClientDialect;
  call: ClientCall;
  meta: ResponseMeta;
  meter: Meter;
  /** undefined: the reply is translated */
  passThrough: PassThroughReply | undefined;
  /** undefined: the caller did not ask for the cache */
  cached: CachedCall | undefined;
  /** undefined: no hook inspects the response */
  guard: ResponseGuard | undefined;
};

async function writeReply(
  { call, meta, meter, guard }: Task,
  deltas: AsyncIterable<ModelDelta>,
  frames: FrameWriter,
  stream: ReturnType<typeof openClientStream>,
): Promise<void> {
  const sequencer = buildSequencer(call);
  const events: ReplyEvent[] = [];
  for await (const delta of deltas) {
    meter.note(delta);
    sequencer.push(delta, events);
    let text = '';
    for (const event of events) text += frames.push(event);
    const last = events.at(-1);
    events.length = 0;
    if (text === '') continue;
    if (delta.type === 'finish') {
      if (last?.type === 'finish') {
        await finishReply({ meter, check: buildReplyCheck(guard, call, meta) }, last.reply);
      }
      await meter.settled();
      return stream.end(text);
    }
    if (!stream.hasBegun()) meter.begin();
    const room = stream.write(text);
    if (room !== undefined) await room;
  }
}

async function sendStream(deps: GatewayDeps, task: Task, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { dialect, call, meta } = task;
  const response = reply.raw;
  const watch = watchClient(response, deps.closing, deps.timing?.drainMs);
  void reply.header('content-type', 'text/event-stream');
  const opened = openClientStream(response, {
    headers: () => reply.getHeaders() as Record<string, string>,
    keepalive: dialect.keepalive,
    keepaliveMs: deps.timing?.keepaliveMs,
    signal: watch.signal,
  });
  const { passThrough, cached, guard } = task;
  const recorded = cached?.record(opened) ?? opened;
  const stream = guard?.holdStreams === true ? holdStream(recorded) : recorded;
  const frames = call.buildFrames(meta);
  const inference = inferenceOf(deps, request);
  try {
    if (passThrough === undefined)
      await writeReply(task, inference.stream(call.request, watch.signal, readOptions(request, reply)), frames, stream);
    else {
      const seen = { meter: task.meter, check: buildReplyCheck(guard, call, meta) };
      await writePassThrough(seen, passThrough, watch.signal, stream);
    }
    reply.hijack();
  } catch (error) {
    if (error instanceof ClientGoneError) {
      task.meter.fail('client_gone');
      reply.hijack();
      return;
    }
    const fault = decideFault(error, 0);
    task.meter.fail(fault.code);
    cached?.drop();
    if (!stream.hasBegun()) throw error;
    reply.hijack();
    logGatewayError(deps.log, error, fault, request);
    // What is held back stays so.
    opened.end((passThrough?.writer ?? frames).fail(fault));
  } finally {
    stream.release();
    watch.release();
    // A closing server waits for its connections, so a kept-alive connection must be closed.
    const { socket } = response;
    if (deps.closing.aborted) response.once('finish', () => socket?.destroySoon());
  }
}

/** The body of a response that is not streamed. */
async function collectBody(deps: GatewayDeps, task: Task, reply: FastifyReply, signal: AbortSignal): Promise<string> {
  const { call, meta, meter, passThrough, guard } = task;
  if (passThrough !== undefined)
    return collectPassThrough(meter, passThrough, signal, (text) => inspectText(guard, text));
  const whole = await collectSequence(
    inferenceOf(deps, reply.request).stream(call.request, signal, readOptions(reply.request, reply)),
    call,
  );
  let final = call.buildFinal(whole, meta);
  const check = async () => {
    if (guard !== undefined) final = await guard.inspect(final);
  };
  await finishReply({ meter, check }, whole);
  await meter.settled();
  return JSON.stringify(final);
}

async function sendJson(deps: GatewayDeps, task: Task, reply: FastifyReply): Promise<void> {
  const watch = watchClient(reply.raw, deps.closing, deps.timing?.drainMs);
  try {
    const text = await collectBody(deps, task, reply, watch.signal);
    task.cached?.keep(text);
    if (deps.closing.aborted) void reply.header('connection', 'close');
    await reply.type('application/json; charset=utf-8').send(text);
  } catch (error) {
    const gone = error instanceof ClientGoneError;
    task.meter.fail(gone ? 'client_gone' : decideFault(error, 0).code);
    if (!gone) throw error;
    reply.hijack();
  } finally {
    watch.release();
  }
}

/** Answers one request for a completion, in the client's format. */
export async function answerCall(
  deps: GatewayDeps,
  dialect: ClientDialect,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const call = dialect.readCall(await inspectRequest(deps.hooks, dialect.name, request));
  const session = call.request.cacheKey ?? findSession(request);
  if (session !== undefined) call.request.cacheKey = session;
  checkModel(deps, dialect, call.request, request);
  const meta: ResponseMeta = {
    id: randomUUID().replaceAll('-', ''),
    created: readSeconds(),
    requestId: request.id,
    now: readSeconds,
  };
  const { caller } = request;
  if (caller === undefined) throw errors.unauthorized();
  await deps.usage.budget?.check(caller);
  const reservation = await reserve(deps, call, caller);
  try {
    await answerReserved(deps, { dialect, call, meta, caller, reservation }, request, reply);
  } finally {
    // A call that has ended is already settled.
    void reservation?.settle(0);
  }
}

function reserve({ budgets, inference }: GatewayDeps, { request }: ClientCall, caller: Caller) {
  return budgets.reserve(caller, () => {
    const model = inference.forOrganization(caller.organizationId).findModel(request.model);
    return model === undefined ? 0 : estimateWorstCost(model, { inputTokens: estimateTokens(request), ...request });
  });
}

type AdmittedCall = Pick<Task, 'dialect' | 'call' | 'meta'> & {
  caller: Caller;
  reservation: Reservation | undefined;
};

async function answerReserved(
  deps: GatewayDeps,
  { dialect, call, meta, caller, reservation }: AdmittedCall,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const meter = startMeter(
    { ...deps.usage, inference: deps.inference },
    {
      format: dialect.name,
      model: call.request.model,
      caller,
      about: { requestId: request.id, user: call.request.hints?.user, tags: readTags(request) },
      estimateInput: () => estimateTokens(call.request),
      reservation,
      span: openCallSpan(deps.traces, request),
    },
  );
  const cached = deps.responses.open(request, reply);
  if (cached?.hit !== undefined) {
    request.rawBody = undefined;
    meter.finish({ id: '', model: call.request.model, content: [], finish: 'stop', usage: NO_USAGE });
    await reply.type(call.stream ? 'text/event-stream' : 'application/json; charset=utf-8').send(cached.hit);
    return;
  }
  const passThrough = findPassThrough(deps, { dialect, call, meta }, request, sendRequestId(reply));
  const guard = deps.hooks?.guardResponse(describeCall(request, dialect.name, readBody(request)));
  const task = { dialect, call, meta, meter, cached, passThrough, guard };
  // Only a forwarded call needs its raw bytes; they would be held for the whole stream.
  request.rawBody = undefined;
  if (task.passThrough === undefined) {
    const destinations = inferenceOf(deps, request).listDestinations(call.request);
    const ignored = listIgnored(dialect.name, readBody(request), destinations);
    if (ignored.length > 0) void reply.header('x-capstan-ignored-fields', ignored.join(', '));
  }
  const release = deps.admission.acquire(request.bodyBytes, caller.organizationId);
  try {
    if (call.stream) await sendStream(deps, task, request, reply);
    else await sendJson(deps, task, reply);
  } finally {
    release();
  }
}
