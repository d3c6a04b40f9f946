import type { AssistantPart, ModelReply } from '../../../inference/model.ts';
import { omitUndefined } from '../../../platform/records.ts';
import type { Moment, Wire } from '../dialect.ts';
import { packProof } from '../proof.ts';
import { decodeInput } from './custom-input.ts';
import { buildResource, buildUsage } from './resource.ts';
import type { ResponseContext, Status } from './resource.ts';

/** `reasoning` without a part is the item of a model that shows nothing of it. */
export type ItemPart = AssistantPart | { type: 'reasoning'; text: ''; issuer?: never };

const PREFIXES = { reasoning: 'rs', text: 'msg', refusal: 'msg', tool_call: 'fc' } as const;

/** What the items of one response are built with. */
export type ItemScope = { meta: Moment; context: ResponseContext };

export function itemId(part: ItemPart, index: number, { meta, context }: ItemScope): string {
  const custom = part.type === 'tool_call' && context.names.restore(part.name).custom;
  return `${custom ? 'ctc' : PREFIXES[part.type]}_${meta.id}${index}`;
}

export function buildTextPart(text: string): Wire {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

export function buildContent(part: Extract<AssistantPart, { type: 'text' | 'refusal' }>): Wire {
  return part.type === 'text' ? buildTextPart(part.text) : { type: 'refusal', refusal: part.text };
}

/** One output item, whole. Of parts that are just opened, too: then its texts are empty. */
export function buildItem(part: ItemPart, index: number, status: Status, scope: ItemScope): Wire {
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
      // The format knows no null here.
      const proof = status === 'in_progress' ? undefined : packProof(part);
      return {
        id,
        type: 'reasoning',
        status,
        summary: shown && isSummary ? [{ type: 'summary_text', text: part.text }] : [],
        content: shown && !isSummary ? [{ type: 'reasoning_text', text: part.text }] : [],
        ...omitUndefined({ encrypted_content: proof }),
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

/** Reasoning comes before the answer, unless the caller wants none: an empty item where the model shows nothing. */
export function listItems(content: readonly AssistantPart[], { thinks }: ResponseContext): ItemPart[] {
  return !thinks || content[0]?.type === 'reasoning' ? [...content] : [{ type: 'reasoning', text: '' }, ...content];
}

/** What cut the reply off, and its last item with it; undefined when it is complete. */
export function decideIncomplete({ finish, content }: ModelReply): string | undefined {
  if (finish === 'length') return 'max_output_tokens';
  if (finish === 'content_filter') return 'content_filter';
  return finish === 'refusal' && !content.some((part) => part.type === 'refusal') ? 'content_filter' : undefined;
}

/** The whole response. */
export function buildResponse(reply: ModelReply, moment: Moment, context: ResponseContext): Wire {
  const reason = decideIncomplete(reply);
  const items = listItems(reply.content, context);
  const statusOf = (index: number) => (reason !== undefined && index === items.length - 1 ? 'incomplete' : 'completed');
  return buildResource(moment, context.echo, {
    status: reason === undefined ? 'completed' : 'incomplete',
    model: reply.model,
    completed_at: reason === undefined ? moment.now() : null,
    incomplete_details: reason === undefined ? null : { reason },
    output: items.map((part, index) => buildItem(part, index, statusOf(index), { meta: moment, context })),
    output_text: reply.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''),
    usage: buildUsage(reply.usage),
  });
}
