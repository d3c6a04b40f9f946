import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ForwardedReply } from '../../inference/forward.ts';
import type { GatewayInference } from '../../inference/inference.ts';
import { estimateWorstCost } from '../../inference/budgeted.ts';
import type { Caller } from '../../platform/http/deps.ts';
import { errors } from '../../platform/errors.ts';
import { isRecord } from '../../platform/records.ts';
import { readBody } from '../body.ts';
import { ClientGoneError, watchClient } from '../client-gone.ts';
import { inferenceOf, mayUse, requireModel } from '../allowed-models.ts';
import type { GatewayDeps } from '../deps.ts';
import { readModels } from '../dialects/models.ts';
import type { JsonObject } from '../dialects/dialect.ts';
import { isAbsent } from '../dialects/fields.ts';
import { decideFault } from '../errors.ts';
import { GatewayError, unknownModel } from '../gateway-error.ts';
import { describeCall, inspectText } from '../hooks/inspect.ts';
import type { ResponseGuard } from '../hooks/hooks.ts';
import { requireInspectable, requireInspected } from '../hooks/inspectable.ts';
import { startMeter } from '../usage/meter.ts';
import type { Meter } from '../usage/meter.ts';
import { readTags } from '../usage/request-log.ts';
import { countTokens } from './endpoint.ts';
import type { Endpoint, EndpointInput, EndpointUsage } from './endpoint.ts';
import { buildForm, readForm } from './form.ts';
import { StreamUsage, findUsage } from './usage.ts';

const SCRIPT = /^script\/./;
const SCRIPT_PROVIDER_MODEL = 'script/demo';
/** Whole JSON replies up to this size are searched for usage. */
const MAX_PARSED = 64 * 1024 * 1024;

/** The default model of a request without one: the endpoint's usual model, if it is served here. */
function findDefaultModel(inference: GatewayInference, { defaultModel }: Endpoint): string | undefined {
  if (defaultModel === undefined) return undefined;
  const names = [defaultModel, `openai/${defaultModel}`];
  return names.find((name) => inference.findModel(name) !== undefined) ?? SCRIPT_PROVIDER_MODEL;
}

async function readInput(deps: GatewayDeps, endpoint: Endpoint, request: FastifyRequest): Promise<EndpointInput> {
  const input =
    endpoint.body === 'json'
      ? { fields: readBody(request), files: [] }
      : await readForm(request.body, request.headers['content-type'] ?? '');
  const { fields } = input;
  if (!isAbsent(fields['model']) || !isAbsent(fields['models'])) return input;
  return { ...input, fields: { ...fields, model: findDefaultModel(inferenceOf(deps, request), endpoint) } };
}

/** The input as the hooks leave it. Of forms they see the fields, not the files. */
async function inspectInput(deps: GatewayDeps, endpoint: Endpoint, request: FastifyRequest): Promise<EndpointInput> {
  const input = await readInput(deps, endpoint, request);
  if (deps.hooks === undefined) return input;
  const fields = await deps.hooks.inspectRequest(describeCall(request, endpoint.name, input.fields));
  return { ...input, fields };
}

/** The body for an upstream that calls the model `id`. */
async function buildBody(endpoint: Endpoint, input: EndpointInput, id: string, extra: JsonObject) {
  const { models: _models, ...fields } = input.fields;
  if (endpoint.body === 'form') return buildForm({ ...input, fields }, { ...extra, model: id });
  return { type: 'application/json', data: JSON.stringify({ ...fields, model: id, ...extra }) };
}

/** Resolves once the budgets have the cost of the call. */
function finishMeter(meter: Meter, model: string, found: EndpointUsage | undefined): Promise<void> {
  const { input, output } = found ?? { input: 0, output: 0 };
  const usage = { input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  meter.finish({ id: '', model, content: [], finish: 'stop', usage });
  return meter.settled();
}

/** Streams a reply to the client, and meters its usage. */
async function* meterChunks(reply: ForwardedReply, meter: Meter): AsyncGenerator<Uint8Array> {
  const isStream = reply.contentType.startsWith('text/event-stream');
  const usage = isStream ? new StreamUsage() : undefined;
  try {
    for await (const chunk of reply.chunks) {
      meter.begin();
      usage?.push(chunk);
      yield chunk;
    }
    await finishMeter(meter, reply.model, usage?.usage);
  } catch (error) {
    meter.fail(error instanceof ClientGoneError ? 'client_gone' : decideFault(error, 0).code);
    throw error;
  }
}

/** Throws `upstream_error` for a reply that is no JSON, whatever the provider calls it. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new GatewayError('upstream_error', 'The provider sent no valid JSON.', { cause: error });
  }
}

/** Throws `upstream_error` for a page of a proxy, of a sign-in or the like in place of a response. */
function refusePage(reply: ForwardedReply): void {
  if (!/html/i.test(reply.contentType)) return;
  reply.close();
  throw new GatewayError('upstream_error', 'The provider sent a web page.');
}

async function collectJson(reply: ForwardedReply, meter: Meter, guard: ResponseGuard | undefined) {
  const chunks: Uint8Array[] = [];
  for await (const chunk of reply.chunks) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const json = body.length > MAX_PARSED ? undefined : readJson(body.toString('utf8'));
  await finishMeter(meter, reply.model, isRecord(json) ? findUsage(json) : undefined);
  return guard === undefined ? body : inspectText(guard, body.toString('utf8'));
}

/** What is answered, and by which rules. */
type EndpointTask = {
  deps: GatewayDeps;
  endpoint: Endpoint;
  input: EndpointInput;
  meter: Meter;
  guard: ResponseGuard | undefined;
};

async function sendForwarded(
  { deps, endpoint, input, meter, guard }: EndpointTask,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const watch = watchClient(reply.raw, deps.closing, deps.timing?.drainMs);
  try {
    const named = readModels(input.fields);
    const call = {
      ...named,
      path: endpoint.path,
      formats: endpoint.formats,
      buildBody: (id: string, extra: JsonObject) => buildBody(endpoint, input, id, extra),
    };
    const answer = await inferenceOf(deps, request).forward(call, watch.signal, request.caller?.organizationId ?? '');
    refusePage(answer);
    void reply.type(answer.contentType);
    if (answer.requestId !== undefined) void reply.header('x-upstream-request-id', answer.requestId);
    if (answer.contentType.includes('json')) {
      await reply.send(await collectJson(answer, meter, guard));
      return;
    }
    requireInspected(guard, answer);
    await reply.send(Readable.from(meterChunks(answer, meter)));
    await finished(reply.raw).catch(() => undefined);
  } catch (error) {
    const gone = error instanceof ClientGoneError;
    meter.fail(gone ? 'client_gone' : decideFault(error, 0).code);
    if (!gone) throw error;
    reply.hijack();
  } finally {
    watch.release();
  }
}

/** The cost beyond the input is unknown in advance; only completions have an output limit. */
function reserve(
  { budgets, inference }: GatewayDeps,
  call: { model: string; input: EndpointInput; countInput: () => number },
  caller: Caller,
) {
  return budgets.reserve(caller, () => {
    const model = inference.forOrganization(caller.organizationId).findModel(call.model);
    const limit = call.input.fields['max_tokens'];
    const maxOutputTokens = typeof limit === 'number' ? limit : 0;
    return model === undefined ? 0 : estimateWorstCost(model, { inputTokens: call.countInput(), maxOutputTokens });
  });
}

function readUser({ user }: JsonObject): string | undefined {
  return typeof user === 'string' && user !== '' ? user : undefined;
}

/** Answers one call of an endpoint: by the built-in provider, or by forwarding it to the model's provider. */
export async function answerEndpoint(
  deps: GatewayDeps,
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { caller } = request;
  if (caller === undefined) throw errors.unauthorized();
  const input = await inspectInput(deps, endpoint, request);
  const { model, fallbackModels = [] } = readModels(input.fields);
  endpoint.check(input);
  const guard = deps.hooks?.guardResponse(describeCall(request, endpoint.name, input.fields));
  requireInspectable(guard, endpoint.name, input.fields);
  const isScript = SCRIPT.test(model);
  if (isScript && !mayUse(request, model)) throw unknownModel(model);
  for (const name of isScript ? [] : [model, ...fallbackModels]) requireModel(deps, request, name);
  await deps.usage.budget?.check(caller);
  const countInput = () => countTokens(JSON.stringify(input.fields));
  const reservation = await reserve(deps, { model, input, countInput }, caller);
  const meter = startMeter(
    { ...deps.usage, inference: deps.inference },
    {
      format: endpoint.name,
      model,
      caller,
      about: { requestId: request.id, user: readUser(input.fields), tags: readTags(request) },
      estimateInput: countInput,
      reservation,
    },
  );
  let release: (() => void) | undefined;
  try {
    release = deps.admission.acquire(request.bodyBytes, caller.organizationId);
    if (!isScript) return await sendForwarded({ deps, endpoint, input, meter, guard }, request, reply);
    const answer = endpoint.answerScript({ ...input, fields: { ...input.fields, model } });
    await finishMeter(meter, model, answer.usage);
    const body = typeof answer.body === 'string' ? await inspectText(guard, answer.body) : answer.body;
    await reply.type(answer.type).send(body);
  } finally {
    release?.();
    // A call that has ended is already settled.
    void reservation?.settle(0);
  }
}
