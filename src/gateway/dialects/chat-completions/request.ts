// Tests: test/gateway/chat.test.ts, test/gateway/traps.test.ts
import type {
  ModelRequest,
  ReasoningEffort,
  RequestHints,
  ResponseFormat,
  Sampling,
} from '../../../inference/model.ts';
import { findRefused, pickChatFields } from '../../fields/apply.ts';
import { invalid } from '../../gateway-error.ts';
import type { GatewayError } from '../../gateway-error.ts';
import type { PassThroughTarget } from '../../../inference/pass-through.ts';
import { isRecord, omitUndefined } from '../../../platform/records.ts';
import { writeData } from '../dialect.ts';
import type { ClientCall, PassThrough, JsonObject } from '../dialect.ts';
import {
  isAbsent,
  readList,
  readName,
  readObject,
  readOptionalBoolean,
  readOptionalChoice,
  readOptionalCount,
  readOptionalNumber,
  readOptionalText,
  readText,
} from '../fields.ts';
import { CACHE_TTL } from '../cache.ts';
import { readModels } from '../models.ts';
import { buildChatError } from './error.ts';
import { readConversation } from './messages.ts';
import type { ReportForwardOnly } from './forward-only.ts';
import { buildCompletion } from './reply.ts';
import { buildChatFrames } from './frames.ts';
import { readTools } from './tools.ts';

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export function readStop(value: unknown, path: string): string[] | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'string') return [value];
  return readList(value, path).map((each, index) => readText(each, `${path}[${index}]`));
}

function readEffort(body: JsonObject): ReasoningEffort | undefined {
  const reasoning = isAbsent(body['reasoning']) ? {} : readObject(body['reasoning'], 'reasoning');
  return (
    readOptionalChoice(reasoning['effort'], 'reasoning.effort', ['low', 'medium', 'high']) ??
    // The effort field of this format's SDKs, with its levels.
    readOptionalChoice(body['reasoning_effort'], 'reasoning_effort', EFFORTS)
  );
}

/** The JSON Schema format of both OpenAI formats; chat completions nests it one level deeper. */
export function readSchemaFormat(value: JsonObject, path: string): ResponseFormat {
  return {
    type: 'json_schema',
    name: readName(value['name'], `${path}.name`),
    schema: isAbsent(value['schema']) ? {} : readObject(value['schema'], `${path}.schema`),
    ...omitUndefined({
      strict: readOptionalBoolean(value['strict'], `${path}.strict`),
      description: readOptionalText(value['description'], `${path}.description`),
    }),
  };
}

function readFormat(value: unknown): ResponseFormat | undefined {
  if (isAbsent(value)) return undefined;
  const format = readObject(value, 'response_format');
  const type = readOptionalChoice(format['type'], 'response_format.type', ['text', 'json_object', 'json_schema']);
  if (type === undefined) throw invalid('response_format.type', 'is required');
  if (type !== 'json_schema') return { type };
  return readSchemaFormat(
    readObject(format['json_schema'], 'response_format.json_schema'),
    'response_format.json_schema',
  );
}

/** A fault for fields that only an upstream of this format can serve. */
function findRefusal(body: JsonObject): GatewayError | undefined {
  readOptionalCount(body['n'], 'n');
  readOptionalBoolean(body['logprobs'], 'logprobs');
  return findRefused('chat-completions', body)?.error;
}

/** Whether a message has fields that only Capstan defines. */
function hasOwnFields(message: unknown): boolean {
  if (!isRecord(message)) return false;
  const { content } = message;
  return (
    message['reasoning_details'] !== undefined ||
    message['is_error'] !== undefined ||
    (Array.isArray(content) && content.some((part) => isRecord(part) && part['type'] === 'tool_result'))
  );
}

/** Replaces the gateway's own fields by the upstream's. */
function buildPassThroughBody(
  { reasoning, cache_ttl: _ttl, ...body }: JsonObject,
  { translated: { reasoning_effort, max_tokens, max_completion_tokens } }: PassThroughTarget,
): JsonObject {
  const limited = max_tokens !== undefined || max_completion_tokens !== undefined;
  return {
    ...body,
    ...(isAbsent(reasoning) ? {} : { reasoning_effort }),
    // The model decides which of the two the upstream accepts.
    ...(limited ? { max_tokens, max_completion_tokens } : {}),
    ...(body['stream'] === true
      ? { stream_options: { ...(body['stream_options'] as object), include_usage: true } }
      : {}),
  };
}

function decidePassThrough(
  body: JsonObject,
  usage: boolean,
  refusedPart: GatewayError | undefined,
): PassThrough | undefined {
  const refusal = findRefusal(body) ?? refusedPart;
  if (refusal === undefined && (body['messages'] as unknown[]).some(hasOwnFields)) return undefined;
  // Usage is always requested upstream; the chunk with nothing else goes only to clients that asked for usage.
  const isCount = (data: string) => data.includes('"usage"') && /"choices":\s*\[\s*\]/.test(data);
  return {
    refusal,
    anyOfFormat: refusal !== undefined,
    buildBody: buildPassThroughBody,
    open: () => ({
      take: ({ data }) => (usage || !isCount(data) ? data : undefined),
      fail: (fault) => writeData(buildChatError(fault)),
    }),
  };
}

function readSampling(body: JsonObject): Sampling | undefined {
  const { seed } = body;
  if (!isAbsent(seed) && !Number.isSafeInteger(seed)) throw invalid('seed', 'must be an integer');
  const sampling = omitUndefined({
    seed: isAbsent(seed) ? undefined : (seed as number),
    frequencyPenalty: readOptionalNumber(body['frequency_penalty'], 'frequency_penalty', -2, 2),
    presencePenalty: readOptionalNumber(body['presence_penalty'], 'presence_penalty', -2, 2),
    logitBias: isAbsent(body['logit_bias']) ? undefined : readObject(body['logit_bias'], 'logit_bias'),
    topK: readOptionalCount(body['top_k'], 'top_k'),
  });
  return Object.keys(sampling).length === 0 ? undefined : sampling;
}

function readHints(body: JsonObject): RequestHints {
  const verbosity = readOptionalChoice(body['verbosity'], 'verbosity', ['low', 'medium', 'high']);
  return omitUndefined({
    user: readOptionalText(body['user'] ?? body['safety_identifier'], 'user'),
    verbosity,
    serviceTier: readOptionalText(body['service_tier'], 'service_tier'),
    metadata: isAbsent(body['metadata']) ? undefined : readObject(body['metadata'], 'metadata'),
  });
}

function readRequest(body: JsonObject, report: ReportForwardOnly): ModelRequest {
  const named = readModels(body);
  const messages = readConversation(readList(body['messages'], 'messages'), report);
  const { tools, toolChoice } = readTools(body, report);
  return {
    ...named,
    system: '',
    messages,
    tools,
    ...omitUndefined({
      toolChoice,
      parallelToolCalls: readOptionalBoolean(body['parallel_tool_calls'], 'parallel_tool_calls'),
      maxOutputTokens:
        readOptionalCount(body['max_completion_tokens'], 'max_completion_tokens') ??
        readOptionalCount(body['max_tokens'], 'max_tokens'),
      temperature: readOptionalNumber(body['temperature'], 'temperature', 0, 2),
      topP: readOptionalNumber(body['top_p'], 'top_p', 0, 1),
      sampling: readSampling(body),
      stop: readStop(body['stop'], 'stop'),
      responseFormat: readFormat(body['response_format']),
      cacheKey: readOptionalText(body['prompt_cache_key'], 'prompt_cache_key'),
      cacheTtl: readOptionalChoice(body['cache_ttl'], 'cache_ttl', CACHE_TTL),
      chatFields: pickChatFields(body),
    }),
    hints: readHints(body),
    ...withEffort(readEffort(body)),
  };
}

function withEffort(effort: ReasoningEffort | undefined): { reasoning?: { effort: ReasoningEffort } } {
  return effort === undefined ? {} : { reasoning: { effort } };
}

export function readChatCall(body: JsonObject): ClientCall {
  let refusedPart: GatewayError | undefined;
  const request = readRequest(body, (fault) => {
    refusedPart ??= fault;
  });
  const options = body['stream_options'];
  const usage = isRecord(options) && options['include_usage'] === true;
  const passThrough = decidePassThrough(body, usage, refusedPart);
  return {
    request,
    stream: readOptionalBoolean(body['stream'], 'stream') ?? false,
    reasoning: request.reasoning?.effort !== 'none',
    ...omitUndefined({ passThrough }),
    buildFinal: buildCompletion,
    buildFrames: (meta) => buildChatFrames(meta, { usage }),
  };
}
