import type { ModelRequest, ModelUsage } from '../../../inference/model.ts';
import { isRecord } from '../../../platform/records.ts';
import type { ResponseMeta, JsonObject } from '../dialect.ts';
import { isAbsent } from '../fields.ts';
import type { ToolNames } from './tool-names.ts';

/** Request fields that the response repeats. */
export type Echo = JsonObject;

/** `showsReasoning`: the response begins with a reasoning item, even if the model shows no reasoning. */
export type ResponseContext = { echo: Echo; names: ToolNames; showsReasoning: boolean };

/** A function with the format's defaults filled in. */
function describeTool(tool: unknown): unknown {
  if (!isRecord(tool) || tool['type'] !== 'function') return tool;
  return {
    ...tool,
    description: tool['description'] ?? null,
    parameters: tool['parameters'] ?? null,
    strict: tool['strict'] ?? false,
  };
}

function describeFormat(format: unknown): unknown {
  if (!isRecord(format) || format['type'] !== 'json_schema') return format ?? { type: 'text' };
  return { ...format, description: format['description'] ?? null, strict: format['strict'] ?? false };
}

function describeChoice(choice: unknown): unknown {
  if (!isRecord(choice) || choice['type'] !== 'allowed_tools') return choice ?? 'auto';
  return { ...choice, mode: choice['mode'] ?? 'auto' };
}

export function buildEcho(body: JsonObject, request: ModelRequest): Echo {
  const reasoning = isRecord(body['reasoning']) ? body['reasoning'] : {};
  const text = isRecord(body['text']) ? body['text'] : {};
  return {
    instructions: body['instructions'] ?? null,
    tools: Array.isArray(body['tools']) ? body['tools'].map(describeTool) : [],
    tool_choice: describeChoice(body['tool_choice']),
    truncation: body['truncation'] ?? 'disabled',
    parallel_tool_calls: body['parallel_tool_calls'] ?? true,
    text: {
      format: describeFormat(text['format']),
      ...(isAbsent(text['verbosity']) ? {} : { verbosity: text['verbosity'] }),
    },
    top_p: request.topP ?? 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    temperature: request.temperature ?? 1,
    reasoning: { effort: request.reasoning?.effort ?? 'high', summary: reasoning['summary'] ?? null },
    max_output_tokens: request.maxOutputTokens ?? null,
    max_tool_calls: null,
    previous_response_id: null,
    store: false,
    background: false,
    service_tier: body['service_tier'] ?? 'default',
    metadata: body['metadata'] ?? {},
    user: body['user'] ?? null,
    safety_identifier: body['safety_identifier'] ?? null,
    prompt_cache_key: body['prompt_cache_key'] ?? null,
  };
}

export function responseId({ id }: ResponseMeta): string {
  return `resp_${id}`;
}

export type Status = 'in_progress' | 'completed' | 'incomplete' | 'failed';

export function buildResource(
  meta: ResponseMeta,
  echo: Echo,
  fields: JsonObject & { status: Status; model: string },
): JsonObject {
  return {
    id: responseId(meta),
    object: 'response',
    created_at: meta.created,
    completed_at: null,
    error: null,
    incomplete_details: null,
    output: [],
    usage: null,
    ...echo,
    ...fields,
  };
}

export function buildUsage(usage: ModelUsage): JsonObject {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
}
