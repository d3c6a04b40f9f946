import type { AssistantPart, InputPart, ModelMessage, ToolResult } from '../../model.ts';
import type { UpstreamTarget } from '../dialect.ts';
import { wrapSystem } from '../history.ts';
import { joinTurns } from '../turns.ts';
import type { Turn as AnyTurn } from '../turns.ts';
import { asObject } from '../wire.ts';

export type Block = Record<string, unknown> & { type: string };
export type Turn = AnyTurn<'user' | 'assistant', Block>;

/** The upstream rejects text that is only whitespace. */
function buildText(text: string): Block[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function buildInput(part: InputPart): Block[] {
  switch (part.type) {
    case 'text':
      return buildText(part.text);
    case 'image':
      return [{ type: 'image', source: { type: 'base64', media_type: part.mediaType, data: part.data } }];
    case 'file': {
      const source = { type: 'base64', media_type: part.mediaType, data: part.data };
      return [{ type: 'document', source, ...(part.name === undefined ? {} : { title: part.name }) }];
    }
    case 'image_url':
      return [{ type: 'image', source: { type: 'url', url: part.url } }];
  }
}

function buildResult({ callId, content, isError }: ToolResult): Block {
  const blocks = content.flatMap(buildInput);
  const [first] = blocks;
  return {
    type: 'tool_result',
    tool_use_id: callId,
    ...(blocks.length === 0 ? {} : { content: blocks.length === 1 && first?.type === 'text' ? first.text : blocks }),
    ...(isError ? { is_error: true } : {}),
  };
}

function buildAssistantPart(part: AssistantPart, target: UpstreamTarget): Block[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return buildText(part.text);
    case 'tool_call':
      return [{ type: 'tool_use', id: part.id, name: part.name, input: asObject(JSON.parse(part.arguments)) ?? {} }];
    case 'reasoning':
      // Only the issuer of a thinking block accepts it, and only with its signature.
      if (part.issuer !== target.name) return [];
      if (part.redacted !== undefined) return [{ type: 'redacted_thinking', data: part.redacted }];
      return part.signature === undefined ? [] : [{ type: 'thinking', thinking: part.text, signature: part.signature }];
  }
}

function buildTurn(message: ModelMessage, target: UpstreamTarget): Turn {
  switch (message.role) {
    case 'system':
      return { role: 'user', content: buildText(wrapSystem(message.content)) };
    case 'user':
      return { role: 'user', content: message.content.flatMap(buildInput) };
    case 'tool':
      return { role: 'user', content: message.results.map(buildResult) };
    case 'assistant':
      return { role: 'assistant', content: message.content.flatMap((part) => buildAssistantPart(part, target)) };
  }
}

/** Moves results to the beginning of their turn, as the format requires. */
function orderUserTurn(turn: Turn): Turn {
  if (turn.role !== 'user') return turn;
  const isResult = (block: Block) => block.type === 'tool_result';
  return {
    role: 'user',
    content: [...turn.content.filter(isResult), ...turn.content.filter((block) => !isResult(block))],
  };
}

/** Roles alternate, beginning with the user; no turn is empty, and a final assistant turn has no trailing whitespace. */
export function buildTurns(messages: readonly ModelMessage[], target: UpstreamTarget): Turn[] {
  const turns = joinTurns(messages.map((message) => buildTurn(message, target)));
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', content: [{ type: 'text', text: 'Continue.' }] });
  const final = turns.at(-1)?.role === 'assistant' ? turns.at(-1)?.content.at(-1) : undefined;
  if (final?.type === 'text' && typeof final.text === 'string') final.text = final.text.trimEnd();
  return turns.map(orderUserTurn);
}
