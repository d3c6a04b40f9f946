import type { AssistantPart, ModelReply, ModelUsage, ReasoningPart } from '../../../inference/model.ts';
import type { ResponseMeta, JsonObject } from '../dialect.ts';
import { buildChatAnnotation, listCitations } from '../citations.ts';
import { packSignature } from '../signature.ts';

export function completionId({ id }: ResponseMeta): string {
  return `chatcmpl-${id}`;
}

export function buildUsage(usage: ModelUsage): JsonObject {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

/** A refusal with text ends with `stop`; one without text comes from a content filter. */
export function decideFinishReason({ finish, content }: ModelReply): string {
  if (finish !== 'refusal') return finish;
  return content.some((part) => part.type === 'refusal') ? 'stop' : 'content_filter';
}

/** Lets clients return reasoning to the model that produced it; undefined for reasoning without an issuer. */
export function buildDetail(part: ReasoningPart, index: number): JsonObject | undefined {
  const data = packSignature(part);
  if (data === undefined) return undefined;
  return { type: 'reasoning.encrypted', format: 'capstan-1', index, data, text: part.text };
}

function join(content: readonly AssistantPart[], type: 'text' | 'refusal' | 'reasoning'): string | null {
  const text = content.flatMap((part) => (part.type === type ? [part.text] : [])).join('');
  return text === '' ? null : text;
}

/** Offsets count characters of the joined text. */
function buildAnnotations(content: readonly AssistantPart[]): JsonObject[] {
  let offset = 0;
  return content.flatMap((part) => {
    if (part.type !== 'text') return [];
    const before = offset;
    offset += part.text.length;
    return listCitations(part, (citation) => buildChatAnnotation(citation, part, before));
  });
}

export function buildMessage(content: readonly AssistantPart[]): JsonObject {
  const annotations = buildAnnotations(content);
  const calls = content.filter((part) => part.type === 'tool_call');
  const reasoning = join(content, 'reasoning');
  const details = content
    .filter((part) => part.type === 'reasoning')
    .flatMap((part, index) => buildDetail(part, index) ?? []);
  return {
    role: 'assistant',
    content: join(content, 'text'),
    refusal: join(content, 'refusal'),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(reasoning === null ? {} : { reasoning_content: reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, name, arguments: text }) => ({
            id,
            type: 'function',
            function: { name, arguments: text },
          })),
        }),
  };
}

export function buildCompletion(reply: ModelReply, meta: ResponseMeta): JsonObject {
  return {
    id: completionId(meta),
    object: 'chat.completion',
    created: meta.created,
    model: reply.model,
    choices: [
      { index: 0, message: buildMessage(reply.content), logprobs: null, finish_reason: decideFinishReason(reply) },
    ],
    usage: buildUsage(reply.usage),
  };
}
