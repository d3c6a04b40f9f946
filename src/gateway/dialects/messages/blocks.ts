import type { AssistantPart, InputPart, TextPart, ToolResult } from '../../../inference/model.ts';
import { isRecord } from '../../../platform/records.ts';
import { invalid, unsupported } from '../../gateway-error.ts';
import type { GatewayError } from '../../gateway-error.ts';
import type { Wire } from '../dialect.ts';
import { isAbsent, nameType, readName, readObject, readParts, readText } from '../fields.ts';
import { readImageData, readImageUrl } from '../images.ts';
import { unpackProof } from '../proof.ts';

/**
 * Hears of what this format's own provider alone understands: tools that run there, what they gave, documents that have
 * to be rendered. It is left out of what other formats get.
 */
export type NoteForeign = (fault: GatewayError) => void;

/** Blocks of a content: a string is one text. Fields that are not known are left alone, `cache_control` among them. */
export function readBlocks(content: unknown, path: string): { block: Wire; path: string }[] {
  if (isAbsent(content)) return [];
  if (typeof content === 'string') return [{ block: { type: 'text', text: content }, path }];
  return readParts(content, path).map((item, index) => {
    const at = `${path}.${index}`;
    return { block: readObject(item, at), path: at };
  });
}

export function readTextBlocks(content: unknown, path: string): TextPart[] {
  return readBlocks(content, path).map(({ block, path: at }) => {
    if (block['type'] !== 'text') throw unsupported(`${at}.type`, 'must be text');
    return { type: 'text', text: readText(block['text'], `${at}.text`) };
  });
}

function readImage(block: Wire, path: string): InputPart {
  const source = readObject(block['source'], `${path}.source`);
  if (source['type'] === 'base64')
    return readImageData(readText(source['data'], `${path}.source.data`), `${path}.source.data`);
  if (source['type'] === 'url') {
    return readImageUrl(readText(source['url'], `${path}.source.url`), `${path}.source.url`, { remote: true });
  }
  throw unsupported(`${path}.source.type`, 'must be base64 or url');
}

/** Plain text only: a document of another kind would have to be rendered first. */
function readDocument(block: Wire, path: string, note: NoteForeign): InputPart[] {
  const source = readObject(block['source'], `${path}.source`);
  const title = typeof block['title'] === 'string' ? `${block['title']}\n\n` : '';
  if (source['type'] === 'text')
    return [{ type: 'text', text: title + readText(source['data'], `${path}.source.data`) }];
  if (source['type'] === 'content') return readInputBlocks(source['content'], `${path}.source.content`, note);
  note(unsupported(`${path}.source.type`, 'only documents of plain text are supported'));
  return [];
}

function noteBlock(block: Wire, path: string, note: NoteForeign): void {
  note(unsupported(`${path}.type`, `blocks of type ${nameType(block['type'])} are not supported`));
}

function readInputBlock(block: Wire, path: string, note: NoteForeign): InputPart[] {
  switch (block['type']) {
    case 'text':
      return [{ type: 'text', text: readText(block['text'], `${path}.text`) }];
    case 'image':
      return [readImage(block, path)];
    case 'document':
      return readDocument(block, path, note);
    case 'search_result':
      return readTextBlocks(block['content'], `${path}.content`);
    // Names a tool that the request declares anyway.
    case 'tool_reference':
      return [];
  }
  noteBlock(block, path, note);
  return [];
}

function readInputBlocks(content: unknown, path: string, note: NoteForeign): InputPart[] {
  return readBlocks(content, path).flatMap(({ block, path: at }) => readInputBlock(block, at, note));
}

/** A user turn: results of tools, and what the user says beside them. */
export function readUserBlocks(
  content: unknown,
  path: string,
  note: NoteForeign,
): { results: ToolResult[]; said: InputPart[] } {
  const results: ToolResult[] = [];
  const said: InputPart[] = [];
  for (const { block, path: at } of readBlocks(content, path)) {
    if (block['type'] !== 'tool_result') {
      said.push(...readInputBlock(block, at, note));
      continue;
    }
    results.push({
      callId: readName(block['tool_use_id'], `${at}.tool_use_id`),
      content: readInputBlocks(block['content'], `${at}.content`, note),
      isError: block['is_error'] === true,
    });
  }
  return { results, said };
}

function readThinking(block: Wire, path: string): AssistantPart {
  const text = isAbsent(block['thinking']) ? '' : readText(block['thinking'], `${path}.thinking`);
  return { type: 'reasoning', text, ...unpackProof(block['signature']) };
}

export function readAssistantBlocks(content: unknown, path: string, note: NoteForeign): AssistantPart[] {
  return readBlocks(content, path).flatMap(({ block, path: at }): AssistantPart[] => {
    switch (block['type']) {
      case 'text':
        return [{ type: 'text', text: readText(block['text'], `${at}.text`) }];
      case 'thinking':
        return [readThinking(block, at)];
      case 'redacted_thinking':
        return [{ type: 'reasoning', text: '', ...unpackProof(block['data']) }];
      case 'tool_use': {
        if (!isAbsent(block['input']) && !isRecord(block['input'])) throw invalid(`${at}.input`, 'must be an object');
        return [
          {
            type: 'tool_call',
            id: readName(block['id'], `${at}.id`),
            name: readName(block['name'], `${at}.name`),
            arguments: JSON.stringify(block['input'] ?? {}),
          },
        ];
      }
    }
    noteBlock(block, at, note);
    return [];
  });
}
