import type { AssistantPart, FilePart, ImagePart, InputPart, ModelMessage, TextPart, ToolResult } from '../../model.ts';
import { ModelError } from '../../model.ts';
import type { UpstreamTarget } from '../dialect.ts';
import { describeToolFailure, joinText, wrapSystem } from '../history.ts';
import { joinTurns } from '../turns.ts';
import type { Turn as AnyTurn } from '../turns.ts';
import { asObject } from '../wire.ts';
import { isClaude, isNova } from './models.ts';

export type Block = Record<string, unknown>;
export type Turn = AnyTurn<'user' | 'assistant', Block>;

/** The upstream rejects text that is only whitespace. */
function buildText(text: string): Block[] {
  return text.trim() === '' ? [] : [{ text }];
}

function buildImage({ mediaType, data }: ImagePart): Block {
  return { image: { format: mediaType.slice(mediaType.indexOf('/') + 1), source: { bytes: data } } };
}

/** The characters that the format allows in the name of a document. */
const FORBIDDEN = /[^A-Za-z0-9()[\] -]+/g;

class BlockBuilder {
  readonly #target: UpstreamTarget;
  /** documents so far: their names must differ */
  #documents = 0;

  constructor(target: UpstreamTarget) {
    this.#target = target;
  }

  #buildDocument({ name = 'document', data }: FilePart): Block {
    this.#documents += 1;
    const plain = name.replaceAll(FORBIDDEN, '-').replaceAll(/ {2,}/g, ' ').slice(0, 150);
    return { document: { format: 'pdf', name: `${plain} ${this.#documents}`.trimStart(), source: { bytes: data } } };
  }

  #buildInput(part: InputPart): Block[] {
    switch (part.type) {
      case 'text':
        return buildText(part.text);
      case 'image':
        return [buildImage(part)];
      case 'file':
        return [this.#buildDocument(part)];
      case 'image_url':
        throw new ModelError('invalid_request', 'Images must be sent as base64: this provider reads no addresses.');
    }
  }

  /** Only some models have a status of results. */
  #buildResult({ callId, content, isError }: ToolResult): Block {
    const hasStatus = isClaude(this.#target.model) || isNova(this.#target.model);
    const status = isError && hasStatus ? { status: 'error' } : {};
    const blocks =
      isError && !hasStatus
        ? [{ text: describeToolFailure(joinText(content)) }]
        : content.flatMap((part) => this.#buildInput(part));
    const filled = blocks.length === 0 ? [{ text: '(empty)' }] : blocks;
    return { toolResult: { toolUseId: callId, content: filled, ...status } };
  }

  #buildReply(part: AssistantPart): Block[] {
    switch (part.type) {
      case 'text':
      case 'refusal':
        return buildText(part.text);
      case 'tool_call': {
        const { id, name } = part;
        return [{ toolUse: { toolUseId: id, name, input: asObject(JSON.parse(part.arguments)) ?? {} } }];
      }
      case 'reasoning':
        // Only the issuer of reasoning accepts it, and only with its signature.
        if (part.issuer !== this.#target.name) return [];
        if (part.redacted !== undefined) return [{ reasoningContent: { redactedContent: part.redacted } }];
        if (part.signature === undefined) return [];
        return [{ reasoningContent: { reasoningText: { text: part.text, signature: part.signature } } }];
    }
  }

  buildTurn(message: ModelMessage): Turn {
    switch (message.role) {
      case 'system':
        return { role: 'user', content: buildText(wrapSystem(message.content)) };
      case 'user':
        return { role: 'user', content: message.content.flatMap((part) => this.#buildInput(part)) };
      case 'tool':
        return { role: 'user', content: message.results.map((result) => this.#buildResult(result)) };
      case 'assistant':
        return { role: 'assistant', content: message.content.flatMap((part) => this.#buildReply(part)) };
    }
  }
}

/** Results come first in their turn, and a turn with a document has a text, as the format requires. */
function orderUserTurn(turn: Turn): Turn {
  if (turn.role !== 'user') return turn;
  const isResult = (block: Block) => block.toolResult !== undefined;
  const others = turn.content.filter((block) => !isResult(block));
  const lacksText = others.some((block) => block.document !== undefined) && others.every(({ text }) => !text);
  const content = [...turn.content.filter(isResult), ...(lacksText ? [{ text: 'Document:' }] : []), ...others];
  return { role: 'user', content };
}

function hasCalls(message: ModelMessage): boolean {
  return message.role === 'assistant' && message.content.some(({ type }) => type === 'tool_call');
}

function describeCall(part: AssistantPart): TextPart[] {
  if (part.type === 'text' || part.type === 'refusal') return [{ type: 'text', text: part.text }];
  return part.type === 'tool_call' ? [{ type: 'text', text: `[Called ${part.name} with ${part.arguments}]` }] : [];
}

/**
 * Calls and results as text. The upstream rejects a conversation with calls where no tools are offered, and has no
 * choice of tools that forbids calls.
 */
export function describeCalls(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  if (!messages.some(({ role }) => role === 'tool') && !messages.some(hasCalls)) return messages;
  return messages.map((message): ModelMessage => {
    if (message.role === 'assistant') return { role: 'assistant', content: message.content.flatMap(describeCall) };
    if (message.role !== 'tool') return message;
    const content = message.results.flatMap(({ content: parts, isError }): InputPart[] => [
      { type: 'text', text: isError ? '[Error of the call]' : '[Result of the call]' },
      ...parts,
    ]);
    return { role: 'user', content };
  });
}

/** Roles alternate, beginning with the user; no turn is empty, and a final assistant turn has no trailing whitespace. */
export function buildTurns(messages: readonly ModelMessage[], target: UpstreamTarget): Turn[] {
  const builder = new BlockBuilder(target);
  const turns = joinTurns(messages.map((message) => builder.buildTurn(message)));
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', content: [{ text: 'Continue.' }] });
  const final = turns.at(-1)?.role === 'assistant' ? turns.at(-1)?.content.at(-1) : undefined;
  if (typeof final?.text === 'string') final.text = final.text.trimEnd();
  return turns.map(orderUserTurn);
}
