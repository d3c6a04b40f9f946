import type { AssistantPart } from '../../../inference/model.ts';
import { writeEvent } from '../dialect.ts';
import type { FrameWriter, Moment, Wire } from '../dialect.ts';
import { buildInputDecoder } from './custom-input.ts';
import type { InputDecoder } from './custom-input.ts';
import { describeFailure } from './failure.ts';
import { buildContent, buildItem, buildResponse, buildTextPart, decideIncomplete, itemId } from './reply.ts';
import type { ItemPart } from './reply.ts';
import { buildResource } from './resource.ts';
import type { ResponseContext, Status } from './resource.ts';

export function openResponsesFrames(moment: Moment, context: ResponseContext): FrameWriter {
  let sequence = 0;
  let model = '';
  /** 1 where an item of empty reasoning stands before the reply's own */
  let shift = 0;
  let decoder: InputDecoder | undefined;
  let input = '';
  /** whether the open reasoning has shown any text */
  let shown = false;
  /** an item that has no more to say, but whose end is to be written: the reply's end decides how the last one ended */
  let closed: { part: ItemPart; index: number } | undefined;

  const write = (type: string, fields: Wire): string => {
    const text = writeEvent(type, { type, sequence_number: sequence, ...fields });
    sequence += 1;
    return text;
  };
  const isCustom = (part: ItemPart) => part.type === 'tool_call' && context.names.restore(part.name).custom;
  const place = (part: ItemPart, index: number): Wire => ({
    item_id: itemId(part, index, moment, context),
    output_index: index,
  });

  function add(part: ItemPart, index: number): string {
    const item = buildItem(part, index, 'in_progress', moment, context);
    return write('response.output_item.added', { output_index: index, item });
  }

  function settle(status: Status): string {
    if (closed === undefined) return '';
    const { part, index } = closed;
    closed = undefined;
    const item = buildItem(part, index, status, moment, context);
    return write('response.output_item.done', { output_index: index, item });
  }

  function open(part: AssistantPart, index: number): string {
    shown = false;
    input = '';
    decoder = isCustom(part) ? buildInputDecoder() : undefined;
    const added = add(part, index);
    if (part.type !== 'text' && part.type !== 'refusal') return added;
    return (
      added +
      write('response.content_part.added', { ...place(part, index), content_index: 0, part: buildContent(part) })
    );
  }

  function grow(part: AssistantPart, index: number, delta: string): string {
    const at = place(part, index);
    switch (part.type) {
      case 'text':
        return write('response.output_text.delta', { ...at, content_index: 0, delta, logprobs: [] });
      case 'refusal':
        return write('response.refusal.delta', { ...at, content_index: 0, delta });
      case 'tool_call': {
        if (decoder === undefined) return write('response.function_call_arguments.delta', { ...at, delta });
        const more = decoder.push(delta);
        input += more;
        return more === '' ? '' : write('response.custom_tool_call_input.delta', { ...at, delta: more });
      }
      case 'reasoning': {
        const begun = shown;
        shown = true;
        if (part.summary !== true) return write('response.reasoning_text.delta', { ...at, content_index: 0, delta });
        const head = begun
          ? ''
          : write('response.reasoning_summary_part.added', {
              ...at,
              summary_index: 0,
              part: { type: 'summary_text', text: '' },
            });
        return head + write('response.reasoning_summary_text.delta', { ...at, summary_index: 0, delta });
      }
    }
  }

  function closeReasoning(part: Extract<AssistantPart, { type: 'reasoning' }>, at: Wire): string {
    if (!shown) return '';
    const { text } = part;
    if (part.summary !== true) return write('response.reasoning_text.done', { ...at, content_index: 0, text });
    return (
      write('response.reasoning_summary_text.done', { ...at, summary_index: 0, text }) +
      write('response.reasoning_summary_part.done', { ...at, summary_index: 0, part: { type: 'summary_text', text } })
    );
  }

  function close(part: AssistantPart, index: number): string {
    const at = place(part, index);
    switch (part.type) {
      case 'text':
        return (
          write('response.output_text.done', { ...at, content_index: 0, text: part.text, logprobs: [] }) +
          write('response.content_part.done', { ...at, content_index: 0, part: buildTextPart(part.text) })
        );
      case 'refusal':
        return (
          write('response.refusal.done', { ...at, content_index: 0, refusal: part.text }) +
          write('response.content_part.done', { ...at, content_index: 0, part: buildContent(part) })
        );
      case 'reasoning':
        return closeReasoning(part, at);
      case 'tool_call': {
        if (decoder === undefined) {
          const { name } = context.names.restore(part.name);
          return write('response.function_call_arguments.done', { ...at, name, arguments: part.arguments });
        }
        const rest = decoder.end();
        const last = rest === '' ? '' : write('response.custom_tool_call_input.delta', { ...at, delta: rest });
        return last + write('response.custom_tool_call_input.done', { ...at, input: input + rest });
      }
    }
  }

  function begin(): string {
    const response = buildResource(moment, context.echo, { status: 'in_progress', model });
    return write('response.created', { response }) + write('response.in_progress', { response });
  }

  function addEmptyReasoning(): string {
    shift = 1;
    const part: ItemPart = { type: 'reasoning', text: '' };
    closed = { part, index: 0 };
    return add(part, 0);
  }

  return {
    push(event) {
      switch (event.type) {
        case 'start':
          ({ model } = event);
          return begin();
        case 'open': {
          const silent = event.index === 0 && context.thinks && event.part.type !== 'reasoning';
          const head = silent ? addEmptyReasoning() : '';
          return head + settle('completed') + open(event.part, event.index + shift);
        }
        case 'delta':
          return grow(event.part, event.index + shift, event.text);
        case 'close':
          closed = { part: event.part, index: event.index + shift };
          return close(event.part, event.index + shift);
        case 'finish': {
          const empty = event.reply.content.length === 0 && context.thinks ? addEmptyReasoning() : '';
          const head = empty + settle(decideIncomplete(event.reply) === undefined ? 'completed' : 'incomplete');
          const response = buildResponse(event.reply, moment, context);
          return head + write(`response.${String(response['status'])}`, { response });
        }
      }
    },
    fail(fault) {
      const error = describeFailure(fault);
      const head = sequence === 0 ? begin() : '';
      return (
        head +
        write('response.failed', { response: buildResource(moment, context.echo, { status: 'failed', model, error }) })
      );
    },
  };
}
