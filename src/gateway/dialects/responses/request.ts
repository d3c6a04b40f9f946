import type { ModelRequest, ResponseFormat } from '../../../inference/model.ts';
import { isRecord, omitUndefined } from '../../../platform/records.ts';
import { invalid } from '../../gateway-error.ts';
import { CACHE_TTL } from '../cache.ts';
import { readSchemaFormat } from '../chat-completions/request.ts';
import type { ClientCall, JsonObject } from '../dialect.ts';
import {
  isAbsent,
  readObject,
  readOptionalBoolean,
  readOptionalChoice,
  readOptionalCount,
  readOptionalList,
  readOptionalNumber,
  readOptionalText,
} from '../fields.ts';
import { readModels } from '../models.ts';
import { checkFields, readStrict } from './fields.ts';
import { readInput } from './input.ts';
import { decidePassThrough } from './pass-through.ts';
import { buildEcho } from './resource.ts';
import { buildResponse } from './reply.ts';
import { buildResponsesFrames } from './frames.ts';
import { readResponsesTools } from './tools.ts';

const EFFORTS = ['none', 'low', 'medium', 'high'] as const;
const REASONING_FIELDS = ['effort', 'summary', 'generate_summary', 'context', 'encrypted_content'];

function readFormat(text: JsonObject): ResponseFormat | undefined {
  if (isAbsent(text['format'])) return undefined;
  const format = readObject(text['format'], 'text.format');
  const type = readOptionalChoice(format['type'], 'text.format.type', ['text', 'json_object', 'json_schema']);
  if (type === undefined) throw invalid('text.format.type', 'is required');
  return type === 'json_schema' ? readSchemaFormat(format, 'text.format') : { type };
}

/** Fields without an effect must still have the right type. */
function checkIgnoredFields(body: JsonObject): void {
  for (const name of ['user', 'safety_identifier', 'service_tier']) readOptionalText(body[name], name);
  for (const name of ['metadata', 'client_metadata', 'stream_options']) {
    if (!isAbsent(body[name]) && !isRecord(body[name])) throw invalid(name, 'must be an object');
  }
  readOptionalList(body['include'], 'include');
  readOptionalChoice(body['truncation'], 'truncation', ['auto', 'disabled']);
}

export function readResponsesCall(body: JsonObject): ClientCall {
  const refusal = checkFields(body);
  checkIgnoredFields(body);
  const named = readModels(body);
  const { names, tools, toolChoice } = readResponsesTools(body);
  const reasoning = readStrict(body['reasoning'], 'reasoning', REASONING_FIELDS);
  const text = readStrict(body['text'], 'text', ['format', 'verbosity']);
  readOptionalBoolean(body['store'], 'store');
  const request: ModelRequest = {
    ...named,
    system: readOptionalText(body['instructions'], 'instructions') ?? '',
    messages: readInput(body['input'], names),
    tools,
    hints: omitUndefined({
      user: readOptionalText(body['user'] ?? body['safety_identifier'], 'user'),
      verbosity: readOptionalChoice(text['verbosity'], 'text.verbosity', ['low', 'medium', 'high']),
    }),
    reasoning: { effort: readOptionalChoice(reasoning['effort'], 'reasoning.effort', EFFORTS) ?? 'high' },
    ...omitUndefined({
      toolChoice,
      parallelToolCalls: readOptionalBoolean(body['parallel_tool_calls'], 'parallel_tool_calls'),
      maxOutputTokens: readOptionalCount(body['max_output_tokens'], 'max_output_tokens'),
      temperature: readOptionalNumber(body['temperature'], 'temperature', 0, 2),
      topP: readOptionalNumber(body['top_p'], 'top_p', 0, 1),
      responseFormat: readFormat(text),
      cacheKey: readOptionalText(body['prompt_cache_key'], 'prompt_cache_key'),
      cacheTtl: readOptionalChoice(body['cache_ttl'], 'cache_ttl', CACHE_TTL),
    }),
  };
  const effort = request.reasoning?.effort ?? 'high';
  const context = { echo: buildEcho(body, request), names, showsReasoning: effort !== 'none' };
  const passThrough = decidePassThrough(body, { effort, echo: context.echo, refusal });
  if (passThrough === undefined && refusal !== undefined) throw refusal;
  return {
    request,
    stream: readOptionalBoolean(body['stream'], 'stream') ?? false,
    reasoning: context.showsReasoning,
    summaries: !isAbsent(reasoning['summary']) || !isAbsent(reasoning['generate_summary']),
    ...omitUndefined({ passThrough }),
    buildFinal: (reply, meta) => buildResponse(reply, meta, context),
    buildFrames: (meta) => buildResponsesFrames(meta, context),
  };
}
