import { omitUndefined } from '../../../platform/records.ts';
import type { ModelRequest } from '../../model.ts';
import type { UpstreamRequest, UpstreamTarget } from '../dialect.ts';
import { buildHistory } from '../history.ts';
import { buildTurns } from './conversation.ts';
import type { Block, Turn } from './conversation.ts';
import { decideThinking } from './thinking.ts';

/** The upstream supports two durations: five minutes, its default, and one hour. */
function buildCacheControl(ttl: ModelRequest['cacheTtl']): Record<string, unknown> {
  const short = ttl === undefined || ttl === '5m';
  return short ? { type: 'ephemeral' } : { type: 'ephemeral', ttl: '1h' };
}

/**
 * Sets cache breakpoints at the last two user turns, where the next call begins to differ. The upstream allows four
 * breakpoints; the instructions and the tools take the other two.
 */
function addCacheBreakpoints(turns: Turn[], cacheControl: Record<string, unknown>): void {
  const users = turns.filter((turn) => turn.role === 'user').slice(-2);
  for (const turn of users) {
    const block = turn.content.at(-1);
    if (block !== undefined) block.cache_control = cacheControl;
  }
}

function buildToolChoice(request: ModelRequest): Record<string, unknown> | undefined {
  const { toolChoice, parallelToolCalls } = request;
  const serial = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  if (typeof toolChoice === 'object') return { type: 'tool', name: toolChoice.name, ...serial };
  if (toolChoice === 'required') return { type: 'any', ...serial };
  if (toolChoice === 'none') return { type: 'none' };
  return toolChoice === 'auto' || parallelToolCalls === false ? { type: 'auto', ...serial } : undefined;
}

function buildSystem(system: string, request: ModelRequest): Block[] {
  const json = request.responseFormat?.type === 'json_object' ? 'Reply with one JSON object and nothing else.' : '';
  return [system, json].filter((text) => text !== '').map((text) => ({ type: 'text', text }));
}

/** Temperature and top-p exclude each other; newer models reject both together, and thinking allows neither. */
function buildSampling(request: ModelRequest, thinks: boolean): Record<string, unknown> {
  if (thinks) return {};
  const topK = { top_k: request.sampling?.topK };
  if (request.temperature !== undefined) return { temperature: Math.min(request.temperature, 1), ...topK };
  return request.topP === undefined ? topK : { top_p: request.topP, ...topK };
}

/** The upstream's limit. */
const MAX_USER_ID = 256;

function buildMetadata({ hints }: ModelRequest): Record<string, unknown> | undefined {
  return hints?.user === undefined ? undefined : { user_id: hints.user.slice(0, MAX_USER_ID) };
}

/** Asks how many input tokens a request has. */
export function buildCountRequest(request: ModelRequest, target: UpstreamTarget): UpstreamRequest {
  const { path, headers, body } = buildMessagesRequest(request, target);
  const { model, system, messages, tools, tool_choice, thinking } = body;
  return { path: `${path}/count_tokens`, headers, body: { model, system, messages, tools, tool_choice, thinking } };
}

export function buildMessagesRequest(request: ModelRequest, target: UpstreamTarget): UpstreamRequest {
  const history = buildHistory(request, target);
  const { maxTokens, thinking, effort } = decideThinking(request, history.messages, target);
  const format = request.responseFormat;
  const schema = format?.type === 'json_schema' ? { type: 'json_schema', schema: format.schema } : undefined;
  const outputConfig = omitUndefined({ effort, format: schema });
  const stop = request.stop?.filter((sequence) => sequence.trim() !== '');

  const system = buildSystem(history.system, request);
  const messages = buildTurns(history.messages, target);
  const tools: Record<string, unknown>[] = request.tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: parameters,
  }));
  // A single question is not repeated: a cache entry for it would cost money and never be read.
  if (request.cacheKey !== undefined || tools.length > 0) {
    const cacheControl = buildCacheControl(request.cacheTtl);
    addCacheBreakpoints(messages, cacheControl);
    const last = [system.at(-1), tools.at(-1)];
    for (const block of last) if (block !== undefined) block.cache_control = cacheControl;
  }
  return {
    path: '/messages',
    headers: {
      'anthropic-version': '2023-06-01',
      ...omitUndefined({ 'x-api-key': target.apiKey }),
      ...target.headers,
    },
    body: omitUndefined({
      model: target.model,
      max_tokens: maxTokens,
      system: system.length === 0 ? undefined : system,
      messages,
      stream: true,
      tools: tools.length === 0 ? undefined : tools,
      tool_choice: tools.length === 0 ? undefined : buildToolChoice(request),
      stop_sequences: stop === undefined || stop.length === 0 ? undefined : stop,
      thinking,
      output_config: Object.keys(outputConfig).length === 0 ? undefined : outputConfig,
      metadata: buildMetadata(request),
      ...buildSampling(request, thinking !== undefined && thinking['type'] !== 'disabled'),
    }),
  };
}
