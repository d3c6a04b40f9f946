import { omitUndefined } from '../../../platform/records.ts';
import type { AssistantPart, InputPart, ModelMessage, ModelRequest, ReasoningEffort, ToolResult } from '../../model.ts';
import type { UpstreamRequest, UpstreamTarget } from '../dialect.ts';
import {
  buildBearerHeaders,
  buildFile,
  buildHistory,
  buildImageUrl,
  joinText,
  describeToolFailure,
  limitUser,
  wrapSystem,
} from '../history.ts';
import { asList, isJson } from '../wire.ts';

type ChatMessage = Record<string, unknown> & { role: string };

function buildInputPart(part: InputPart): Record<string, unknown> {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'file') return { type: 'file', file: buildFile(part) };
  return { type: 'image_url', image_url: omitUndefined({ url: buildImageUrl(part), detail: part.detail }) };
}

function buildUserContent(parts: InputPart[]): string | Record<string, unknown>[] {
  const [first] = parts;
  if (parts.length === 1 && first?.type === 'text') return first.text;
  return parts.map(buildInputPart);
}

/** The signature comes from a caller, so it may have been changed. */
function parseDetails(encrypted: string): unknown[] {
  return isJson(encrypted) ? asList(JSON.parse(encrypted)) : [];
}

/** Reasoning is returned only to its issuer, in the field that it came in (the signature names the field). */
function buildReasoning(content: AssistantPart[], target: UpstreamTarget): Record<string, unknown> {
  const fields: Record<string, string> = {};
  const details: unknown[] = [];
  for (const part of content) {
    if (part.type !== 'reasoning' || part.issuer !== target.name) continue;
    if (part.encrypted !== undefined) details.push(...parseDetails(part.encrypted));
    const field = part.signature;
    if (field === 'reasoning' || field === 'reasoning_content') fields[field] = (fields[field] ?? '') + part.text;
  }
  return { ...fields, ...(details.length === 0 ? {} : { reasoning_details: details }) };
}

/** A message of this format has one text followed by its calls, so text between or after calls moves before them. */
function buildAssistant(content: AssistantPart[], target: UpstreamTarget): ChatMessage | undefined {
  const text = content.flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? [part.text] : [])).join('');
  const calls = content.flatMap((part) =>
    part.type === 'tool_call'
      ? [{ id: part.id, type: 'function', function: { name: part.name, arguments: part.arguments } }]
      : [],
  );
  if (text === '' && calls.length === 0) return undefined;
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...buildReasoning(content, target),
  };
}

/** Tool messages carry text only: images follow in one user message after the last result. */
function buildToolMessages(results: ToolResult[], target: UpstreamTarget): ChatMessage[] {
  const messages: ChatMessage[] = [];
  const images: InputPart[] = [];
  for (const { callId, content, isError } of results) {
    const shown = content.filter((part) => part.type !== 'text');
    const text = joinText(content, '\n') || (shown.length > 0 ? '[image: see the next message]' : '');
    const message = { role: 'tool', tool_call_id: callId };
    if (!isError) messages.push({ ...message, content: text });
    else if (target.relays === true) messages.push({ ...message, content: text, is_error: true });
    else messages.push({ ...message, content: describeToolFailure(text) });
    if (shown.length > 0) images.push({ type: 'text', text: `Images returned by the tool call ${callId}:` }, ...shown);
  }
  return images.length === 0 ? messages : [...messages, { role: 'user', content: buildUserContent(images) }];
}

function buildMessage(message: ModelMessage, target: UpstreamTarget): ChatMessage[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'user', content: wrapSystem(message.content) }];
    case 'user':
      return message.content.length === 0 ? [] : [{ role: 'user', content: buildUserContent(message.content) }];
    case 'assistant': {
      const built = buildAssistant(message.content, target);
      return built === undefined ? [] : [built];
    }
    case 'tool':
      return buildToolMessages(message.results, target);
  }
}

function toParts(content: unknown): unknown[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content);
}

/** Merges adjacent user messages: chat templates of several open models require alternating roles. */
function mergeUsers(messages: ChatMessage[]): ChatMessage[] {
  const merged: ChatMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (message.role === 'user' && last?.role === 'user') {
      merged[merged.length - 1] = { role: 'user', content: [...toParts(last.content), ...toParts(message.content)] };
    } else {
      merged.push(message);
    }
  }
  return merged;
}

/** Tool results of one turn may come as several messages; images must not stand between them. */
function joinToolMessages(messages: ModelMessage[]): ModelMessage[] {
  const joined: ModelMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (message.role === 'tool' && last?.role === 'tool') {
      joined[joined.length - 1] = { role: 'tool', results: [...last.results, ...message.results] };
    } else {
      joined.push(message);
    }
  }
  return joined;
}

function buildToolChoice(choice: ModelRequest['toolChoice']): unknown {
  return typeof choice === 'object' ? { type: 'function', function: { name: choice.name } } : choice;
}

function buildResponseFormat(format: ModelRequest['responseFormat']): unknown {
  if (format?.type !== 'json_schema') return format?.type === 'json_object' ? { type: 'json_object' } : undefined;
  const { name, schema, strict, description } = format;
  return { type: 'json_schema', json_schema: omitUndefined({ name, schema, strict, description }) };
}

/** Converts a token budget to an effort, for upstreams that only support efforts. */
export function decideEffort(reasoning: ModelRequest['reasoning']): ReasoningEffort | undefined {
  if (reasoning?.effort !== undefined) return reasoning.effort;
  const budget = reasoning?.budgetTokens;
  if (budget === undefined) return undefined;
  return budget <= 4096 ? 'low' : budget <= 16_384 ? 'medium' : 'high';
}

function buildSampling({ sampling = {} }: ModelRequest, isStrict: boolean): Record<string, unknown> {
  const { seed, frequencyPenalty, presencePenalty, logitBias } = sampling;
  return {
    frequency_penalty: frequencyPenalty,
    presence_penalty: presencePenalty,
    ...(isStrict ? {} : { seed, logit_bias: logitBias }),
  };
}

/** These models reject `max_tokens`; most other upstreams support nothing else. */
const COMPLETION_TOKENS = /(^|\/)(o\d|gpt-[5-9])/;

/** These services reject unknown fields. */
const STRICT_HOSTS = ['api.groq.com', 'api.mistral.ai'];

export function buildChatRequest(request: ModelRequest, target: UpstreamTarget): UpstreamRequest {
  const { system, messages } = buildHistory(request, target);
  const conversation = mergeUsers(joinToolMessages(messages).flatMap((message) => buildMessage(message, target)));
  const tools = request.tools.map(({ name, description, parameters, strict }) => ({
    type: 'function',
    function: omitUndefined({ name, description, parameters, strict }),
  }));
  const offered = tools.length > 0;
  const limit = COMPLETION_TOKENS.test(target.model) ? 'max_completion_tokens' : 'max_tokens';
  const { hints = {} } = request;
  const strictHost = STRICT_HOSTS.includes(new URL(target.baseUrl).hostname);
  return {
    path: '/chat/completions',
    headers: buildBearerHeaders(target),
    body: omitUndefined({
      ...(strictHost ? {} : { user: limitUser(hints.user), verbosity: hints.verbosity }),
      ...request.chatFields,
      model: target.model,
      messages: system === '' ? conversation : [{ role: 'system', content: system }, ...conversation],
      stream: true,
      stream_options: { include_usage: true },
      tools: offered ? tools : undefined,
      tool_choice: offered ? buildToolChoice(request.toolChoice) : undefined,
      parallel_tool_calls: offered ? request.parallelToolCalls : undefined,
      [limit]: request.maxOutputTokens,
      temperature: request.temperature,
      top_p: request.topP,
      ...buildSampling(request, strictHost),
      stop: request.stop?.length === 0 ? undefined : request.stop,
      response_format: buildResponseFormat(request.responseFormat),
      reasoning_effort: decideEffort(request.reasoning),
      prompt_cache_key: strictHost ? undefined : request.cacheKey,
    }),
  };
}
