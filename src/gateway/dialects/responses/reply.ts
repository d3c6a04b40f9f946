import type { AssistantPart, ModelReply, TextPart } from '../../../inference/model.ts';
import { omitUndefined } from '../../../platform/records.ts';
import type { ResponseMeta, JsonObject } from '../dialect.ts';
import { buildResponseAnnotation, listCitations } from '../citations.ts';
import { packSignature } from '../signature.ts';
import { decodeInput } from './custom-input.ts';
import { buildResource, buildUsage } from './resource.ts';
import type { ResponseContext, Status } from './resource.ts';

/** An empty `reasoning` part stands for a model that shows no reasoning. */
export type ItemPart = AssistantPart | { type: 'reasoning'; text: ''; issuer?: never };

const PREFIXES = { reasoning: 'rs', text: 'msg', refusal: 'msg', tool_call: 'fc' } as const;

/** Inputs for building the items of one response. */
export type ItemScope = { meta: ResponseMeta; context: ResponseContext };

export function itemId(part: ItemPart, index: number, { meta, context }: ItemScope): string {
  const custom = part.type === 'tool_call' && context.names.restore(part.name).custom;
  return `${custom ? 'ctc' : PREFIXES[part.type]}_${meta.id}${index}`;
}

export function buildTextPart(part: TextPart): JsonObject {
  const annotations = listCitations(part, buildResponseAnnotation);
  return { type: 'output_text', text: part.text, annotations, logprobs: [] };
}

export function buildContent(part: Extract<AssistantPart, { type: 'text' | 'refusal' }>): JsonObject {
  return part.type === 'text' ? buildTextPart(part) : { type: 'refusal', refusal: part.text };
}

/** One output item. With the status `in_progress` its texts are empty. */
export function buildItem(part: ItemPart, index: number, status: Status, scope: ItemScope): JsonObject {
  const id = itemId(part, index, scope);
  switch (part.type) {
    case 'text':
    case 'refusal':
      return {
        id,
        type: 'message',
        status,
        role: 'assistant',
        content: status === 'in_progress' ? [] : [buildContent(part)],
      };
    case 'reasoning': {
      const shown = part.text !== '' && status !== 'in_progress';
      const isSummary = 'summary' in part && part.summary === true;
      // The format does not allow null here.
      const signature = status === 'in_progress' ? undefined : packSignature(part);
      return {
        id,
        type: 'reasoning',
        status,
        summary: shown && isSummary ? [{ type: 'summary_text', text: part.text }] : [],
        content: shown && !isSummary ? [{ type: 'reasoning_text', text: part.text }] : [],
        ...omitUndefined({ encrypted_content: signature }),
      };
    }
    case 'tool_call': {
      const { name, namespace, custom } = scope.context.names.restore(part.name);
      const where = namespace === undefined ? {} : { namespace };
      const call = { id, status, call_id: part.id, name, ...where };
      return custom
        ? { ...call, type: 'custom_tool_call', input: decodeInput(part.arguments) }
        : { ...call, type: 'function_call', arguments: part.arguments };
    }
  }
}

/** A reasoning item precedes the answer unless the caller disabled reasoning; it is empty if the model shows none. */
export function listItems(content: readonly AssistantPart[], { showsReasoning }: ResponseContext): ItemPart[] {
  return !showsReasoning || content[0]?.type === 'reasoning'
    ? [...content]
    : [{ type: 'reasoning', text: '' }, ...content];
}

/** Why the reply and its last item are incomplete; undefined when they are complete. */
export function decideIncomplete({ finish, content }: ModelReply): string | undefined {
  if (finish === 'length') return 'max_output_tokens';
  if (finish === 'content_filter') return 'content_filter';
  return finish === 'refusal' && !content.some((part) => part.type === 'refusal') ? 'content_filter' : undefined;
}

/** The whole response. */
export function buildResponse(reply: ModelReply, meta: ResponseMeta, context: ResponseContext): JsonObject {
  const reason = decideIncomplete(reply);
  const items = listItems(reply.content, context);
  const statusOf = (index: number) => (reason !== undefined && index === items.length - 1 ? 'incomplete' : 'completed');
  return buildResource(meta, context.echo, {
    status: reason === undefined ? 'completed' : 'incomplete',
    model: reply.model,
    completed_at: reason === undefined ? meta.now() : null,
    incomplete_details: reason === undefined ? null : { reason },
    output: items.map((part, index) => buildItem(part, index, statusOf(index), { meta: meta, context })),
    output_text: reply.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''),
    usage: buildUsage(reply.usage),
  });
}
