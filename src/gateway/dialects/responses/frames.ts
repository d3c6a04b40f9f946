import type { AssistantPart, ReasoningPart } from '../../../inference/model.ts';
import type { GatewayError } from '../../gateway-error.ts';
import type { ReplyEvent } from '../../sequence.ts';
import { writeEvent } from '../dialect.ts';
import type { FrameWriter, ResponseMeta, JsonObject } from '../dialect.ts';
import { buildResponseAnnotation } from '../citations.ts';
import { buildInputDecoder } from './custom-input.ts';
import type { InputDecoder } from './custom-input.ts';
import { describeFailure } from './failure.ts';
import { buildContent, buildItem, buildResponse, buildTextPart, decideIncomplete, itemId } from './reply.ts';
import type { ItemPart, ItemScope } from './reply.ts';
import { buildResource } from './resource.ts';
import type { ResponseContext, Status } from './resource.ts';

/** Writes one response as the events of the responses format. */
class ResponsesFrames implements FrameWriter {
  readonly #scope: ItemScope;
  #sequence = 0;
  #model = '';
  /** 1 if an empty reasoning item precedes the items of the reply */
  #shift = 0;
  #decoder: InputDecoder | undefined;
  #input = '';
  /** whether the open reasoning item has text */
  #shown = false;
  /** of the open text */
  #annotations = 0;
  /** a finished item whose `done` event is held back: the end of the reply decides the status of the last item */
  #closed: { part: ItemPart; index: number } | undefined;

  constructor(scope: ItemScope) {
    this.#scope = scope;
  }

  #write(type: string, fields: JsonObject): string {
    const text = writeEvent(type, { type, sequence_number: this.#sequence, ...fields });
    this.#sequence += 1;
    return text;
  }

  #isCustom(part: ItemPart): boolean {
    return part.type === 'tool_call' && this.#scope.context.names.restore(part.name).custom;
  }

  #place(part: ItemPart, index: number): JsonObject {
    return { item_id: itemId(part, index, this.#scope), output_index: index };
  }

  #add(part: ItemPart, index: number): string {
    const item = buildItem(part, index, 'in_progress', this.#scope);
    return this.#write('response.output_item.added', { output_index: index, item });
  }

  #settle(status: Status): string {
    if (this.#closed === undefined) return '';
    const { part, index } = this.#closed;
    this.#closed = undefined;
    const item = buildItem(part, index, status, this.#scope);
    return this.#write('response.output_item.done', { output_index: index, item });
  }

  #open(part: AssistantPart, index: number): string {
    this.#shown = false;
    this.#annotations = 0;
    this.#input = '';
    this.#decoder = this.#isCustom(part) ? buildInputDecoder() : undefined;
    const added = this.#add(part, index);
    if (part.type !== 'text' && part.type !== 'refusal') return added;
    return (
      added +
      this.#write('response.content_part.added', {
        ...this.#place(part, index),
        content_index: 0,
        part: buildContent(part),
      })
    );
  }

  #cite({ part, citation, index }: Extract<ReplyEvent, { type: 'citation' }>): string {
    const annotation = buildResponseAnnotation(citation, part);
    if (annotation === undefined) return '';
    const annotation_index = this.#annotations;
    this.#annotations += 1;
    const at = { ...this.#place(part, index + this.#shift), content_index: 0, annotation_index };
    return this.#write('response.output_text.annotation.added', { ...at, annotation });
  }

  #grow(part: AssistantPart, index: number, delta: string): string {
    const at = this.#place(part, index);
    switch (part.type) {
      case 'text':
        return this.#write('response.output_text.delta', { ...at, content_index: 0, delta, logprobs: [] });
      case 'refusal':
        return this.#write('response.refusal.delta', { ...at, content_index: 0, delta });
      case 'tool_call': {
        if (this.#decoder === undefined) return this.#write('response.function_call_arguments.delta', { ...at, delta });
        const more = this.#decoder.push(delta);
        this.#input += more;
        return more === '' ? '' : this.#write('response.custom_tool_call_input.delta', { ...at, delta: more });
      }
      case 'reasoning': {
        const head = this.#shown ? '' : this.#addReasoningPart(part, at);
        this.#shown = true;
        if (part.summary !== true) {
          return head + this.#write('response.reasoning_text.delta', { ...at, content_index: 0, delta });
        }
        return head + this.#write('response.reasoning_summary_text.delta', { ...at, summary_index: 0, delta });
      }
    }
  }

  #addReasoningPart(part: ReasoningPart, at: JsonObject): string {
    if (part.summary === true) {
      const added = { ...at, summary_index: 0, part: { type: 'summary_text', text: '' } };
      return this.#write('response.reasoning_summary_part.added', added);
    }
    const added = { ...at, content_index: 0, part: { type: 'reasoning_text', text: '' } };
    return this.#write('response.content_part.added', added);
  }

  #closeReasoning(part: ReasoningPart, at: JsonObject): string {
    if (!this.#shown) return '';
    const { text } = part;
    if (part.summary !== true) {
      const done = { ...at, content_index: 0 };
      return (
        this.#write('response.reasoning_text.done', { ...done, text }) +
        this.#write('response.content_part.done', { ...done, part: { type: 'reasoning_text', text } })
      );
    }
    return (
      this.#write('response.reasoning_summary_text.done', { ...at, summary_index: 0, text }) +
      this.#write('response.reasoning_summary_part.done', {
        ...at,
        summary_index: 0,
        part: { type: 'summary_text', text },
      })
    );
  }

  #close(part: AssistantPart, index: number): string {
    const at = this.#place(part, index);
    switch (part.type) {
      case 'text':
        return (
          this.#write('response.output_text.done', { ...at, content_index: 0, text: part.text, logprobs: [] }) +
          this.#write('response.content_part.done', { ...at, content_index: 0, part: buildTextPart(part) })
        );
      case 'refusal':
        return (
          this.#write('response.refusal.done', { ...at, content_index: 0, refusal: part.text }) +
          this.#write('response.content_part.done', { ...at, content_index: 0, part: buildContent(part) })
        );
      case 'reasoning':
        return this.#closeReasoning(part, at);
      case 'tool_call': {
        if (this.#decoder === undefined) {
          const { name } = this.#scope.context.names.restore(part.name);
          return this.#write('response.function_call_arguments.done', { ...at, name, arguments: part.arguments });
        }
        const rest = this.#decoder.end();
        const last = rest === '' ? '' : this.#write('response.custom_tool_call_input.delta', { ...at, delta: rest });
        return last + this.#write('response.custom_tool_call_input.done', { ...at, input: this.#input + rest });
      }
    }
  }

  #begin(): string {
    const { meta, context } = this.#scope;
    const response = buildResource(meta, context.echo, { status: 'in_progress', model: this.#model });
    return this.#write('response.created', { response }) + this.#write('response.in_progress', { response });
  }

  #addEmptyReasoning(): string {
    this.#shift = 1;
    const part: ItemPart = { type: 'reasoning', text: '' };
    this.#closed = { part, index: 0 };
    return this.#add(part, 0);
  }

  push(event: ReplyEvent): string {
    switch (event.type) {
      case 'start':
        this.#model = event.model;
        return this.#begin();
      case 'open': {
        const silent = event.index === 0 && this.#scope.context.showsReasoning && event.part.type !== 'reasoning';
        const head = silent ? this.#addEmptyReasoning() : '';
        return head + this.#settle('completed') + this.#open(event.part, event.index + this.#shift);
      }
      case 'delta':
        return this.#grow(event.part, event.index + this.#shift, event.text);
      case 'citation':
        return this.#cite(event);
      case 'close':
        this.#closed = { part: event.part, index: event.index + this.#shift };
        return this.#close(event.part, event.index + this.#shift);
      case 'finish': {
        const empty =
          event.reply.content.length === 0 && this.#scope.context.showsReasoning ? this.#addEmptyReasoning() : '';
        const head = empty + this.#settle(decideIncomplete(event.reply) === undefined ? 'completed' : 'incomplete');
        const response = buildResponse(event.reply, this.#scope.meta, this.#scope.context);
        return head + this.#write(`response.${String(response['status'])}`, { response });
      }
    }
  }

  fail(fault: GatewayError): string {
    const { meta, context } = this.#scope;
    const error = describeFailure(fault);
    const head = this.#sequence === 0 ? this.#begin() : '';
    return (
      head +
      this.#write('response.failed', {
        response: buildResource(meta, context.echo, { status: 'failed', model: this.#model, error }),
      })
    );
  }
}

export function buildResponsesFrames(meta: ResponseMeta, context: ResponseContext): FrameWriter {
  return new ResponsesFrames({ meta, context });
}
