import { omitUndefined } from '../../../platform/records.ts';
import { ModelError } from '../../model.ts';
import type { ModelMessage, ModelRequest } from '../../model.ts';
import type { UpstreamRequest, UpstreamTarget } from '../dialect.ts';
import { buildAuthHeaders, buildHistory } from '../history.ts';
import { decideThinking } from '../messages/thinking.ts';
import { buildTurns, describeCalls } from './blocks.ts';
import type { Block, Turn } from './blocks.ts';
import { isClaude, isNova, takesCachePoints } from './models.ts';

type Fields = Record<string, unknown>;

/** Ids come from callers; those of inference profiles contain slashes. */
function buildModelPath(model: string): string {
  if (model === '.' || model === '..') throw new ModelError('unknown_model', 'The provider does not know the model.');
  return `/model/${encodeURIComponent(model)}`;
}

function orUndefined<T extends Fields>(fields: T): T | undefined {
  return Object.keys(fields).length === 0 ? undefined : fields;
}

function buildToolChoice({ toolChoice }: ModelRequest): Fields | undefined {
  if (typeof toolChoice === 'object') return { tool: { name: toolChoice.name } };
  return toolChoice === 'required' ? { any: {} } : undefined;
}

function buildTools({ tools }: ModelRequest): Block[] {
  return tools.map(({ name, description, parameters }) => ({
    toolSpec: { name, ...(description === '' ? {} : { description }), inputSchema: { json: parameters } },
  }));
}

/** Nova's highest effort excludes limits and sampling. */
function nameNovaEffort(request: ModelRequest, effort: string): string {
  const { maxOutputTokens, temperature, topP } = request;
  if (effort === 'minimal' || effort === 'low') return 'low';
  const isBound = maxOutputTokens !== undefined || temperature !== undefined || topP !== undefined;
  return effort === 'medium' || isBound ? 'medium' : 'high';
}

/** Reasoning of models other than Claude, each in the words of its vendor. */
function buildReasoning(request: ModelRequest, model: string): Fields {
  const effort = request.reasoning?.effort;
  if (effort === undefined || effort === 'none') return {};
  if (model.includes('nova-2'))
    return { reasoningConfig: { type: 'enabled', maxReasoningEffort: nameNovaEffort(request, effort) } };
  if (!model.includes('gpt-oss')) return {};
  const level = effort === 'minimal' ? 'low' : effort;
  return { reasoning_effort: level === 'xhigh' || level === 'max' ? 'high' : level };
}

function buildTopK({ sampling }: ModelRequest, model: string): Fields {
  if (sampling?.topK === undefined) return {};
  if (isClaude(model)) return { top_k: sampling.topK };
  return isNova(model) ? { inferenceConfig: { topK: sampling.topK } } : {};
}

/** Claude rejects temperature and top-p together, and takes neither while it thinks. */
function buildSampling(request: ModelRequest, model: string, thinks: boolean): Fields {
  const temperature = request.temperature === undefined ? undefined : Math.min(request.temperature, 1);
  if (thinks) return {};
  if (isClaude(model) && temperature !== undefined) return { temperature };
  return { temperature, topP: request.topP };
}

/** Limits, sampling and reasoning, with the fields of the model's vendor. */
function buildInference(request: ModelRequest, messages: readonly ModelMessage[], target: UpstreamTarget): Fields {
  const { model } = target;
  const { maxTokens, thinking, effort } = isClaude(model)
    ? decideThinking(request, messages, target)
    : { maxTokens: request.maxOutputTokens && Math.min(request.maxOutputTokens, target.maxOutputTokens ?? Infinity) };
  const thinks = thinking !== undefined && thinking['type'] !== 'disabled';
  const stop = request.stop?.filter((sequence) => sequence.trim() !== '') ?? [];
  const format = request.responseFormat;
  const schema =
    format?.type === 'json_schema'
      ? { name: format.name, description: format.description, schema: JSON.stringify(format.schema) }
      : undefined;
  return omitUndefined({
    inferenceConfig: orUndefined(
      omitUndefined({
        maxTokens,
        stopSequences: stop.length === 0 ? undefined : stop,
        ...buildSampling(request, model, thinks),
      }),
    ),
    additionalModelRequestFields: orUndefined(
      omitUndefined({
        thinking,
        ...(thinks ? {} : buildTopK(request, model)),
        ...(isClaude(model) ? {} : buildReasoning(request, model)),
      }),
    ),
    // The format tells that a sequence ended the reply; Claude also tells which.
    additionalModelResponseFieldPaths: isClaude(model) && stop.length > 0 ? ['/stop_sequence'] : undefined,
    outputConfig: orUndefined(
      omitUndefined({
        effort,
        textFormat: schema && { type: 'json_schema', structure: { jsonSchema: omitUndefined(schema) } },
      }),
    ),
  });
}

/** Cache breakpoints after the instructions, the tools and the last two user turns. */
function addCachePoints(request: ModelRequest, lists: Block[][], turns: readonly Turn[]): void {
  if (request.cacheKey === undefined && request.tools.length === 0) return;
  const isShort = request.cacheTtl === undefined || request.cacheTtl === '5m';
  const cachePoint = { type: 'default', ...(isShort ? {} : { ttl: '1h' }) };
  const users = turns.filter(({ role }) => role === 'user').slice(-2);
  for (const list of [...lists, ...users.map(({ content }) => content)]) if (list.length > 0) list.push({ cachePoint });
}

/** The parts that both calls of a model have, and the conversation that they stand for. */
function buildPrompt(
  request: ModelRequest,
  target: UpstreamTarget,
): { prompt: Fields; messages: readonly ModelMessage[] } {
  const history = buildHistory(request, target);
  const offersTools = request.tools.length > 0 && request.toolChoice !== 'none';
  const conversation = offersTools ? history.messages : describeCalls(history.messages);
  const json = request.responseFormat?.type === 'json_object' ? 'Reply with one JSON object and nothing else.' : '';
  const system: Block[] = [history.system, json].filter((text) => text !== '').map((text) => ({ text }));
  const tools = offersTools ? buildTools(request) : [];
  const messages = buildTurns(conversation, target);
  if (takesCachePoints(target.model)) addCachePoints(request, [system, tools], messages);
  const toolConfig = omitUndefined({ tools, toolChoice: buildToolChoice(request) });
  const prompt = omitUndefined({
    system: system.length === 0 ? undefined : system,
    messages: messages.map(({ role, content }) => ({ role, content })),
    toolConfig: offersTools ? toolConfig : undefined,
  });
  return { prompt, messages: conversation };
}

export function buildConverseRequest(request: ModelRequest, target: UpstreamTarget): UpstreamRequest {
  const { prompt, messages } = buildPrompt(request, target);
  return {
    path: `${buildModelPath(target.model)}/converse-stream`,
    headers: buildAuthHeaders(target),
    body: { ...prompt, ...buildInference(request, messages, target) },
  };
}

/** Asks how many input tokens a request has. */
export function buildConverseCount(request: ModelRequest, target: UpstreamTarget): UpstreamRequest {
  const { prompt } = buildPrompt(request, target);
  return {
    path: `${buildModelPath(target.model)}/count-tokens`,
    headers: buildAuthHeaders(target),
    body: { input: { converse: prompt } },
  };
}
