import type { AssistantPart, InputPart, TextPart, ToolResult } from '../../../inference/model.ts';
import { isRecord } from '../../../platform/records.ts';
import { invalid, unsupported } from '../../gateway-error.ts';
import type { GatewayError } from '../../gateway-error.ts';
import type { JsonObject } from '../dialect.ts';
import { isAbsent, nameType, readName, readObject, readParts, readText } from '../fields.ts';
import { readImageData, readImageUrl, readPdf } from '../images.ts';
import { unpackSignature } from '../signature.ts';

/**
 * Receives the features that only the format's own provider supports: tools that run at the provider, their results,
 * and documents that must be rendered. Other upstreams do not get them.
 */
export type ReportProviderOnly = (fault: GatewayError) => void;

/** The blocks of a content; a string is one text block. Unknown fields, such as `cache_control`, are ignored. */
export function readBlocks(content: unknown, path: string): { block: JsonObject; path: string }[] {
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

function readImage(block: JsonObject, path: string): InputPart {
  const source = readObject(block['source'], `${path}.source`);
  if (source['type'] === 'base64')
    return readImageData(readText(source['data'], `${path}.source.data`), `${path}.source.data`);
  if (source['type'] === 'url') {
    return readImageUrl(readText(source['url'], `${path}.source.url`), `${path}.source.url`, { remote: true });
  }
  throw unsupported(`${path}.source.type`, 'must be base64 or url');
}

/** Plain text and PDFs. */
function readDocument(block: JsonObject, path: string, report: ReportProviderOnly): InputPart[] {
  const source = readObject(block['source'], `${path}.source`);
  if (isRecord(block['citations']) && block['citations']['enabled'] === true) {
    report(
      unsupported(`${path}.citations`, 'only providers with the format messages and passThrough: true cite documents'),
    );
  }
  const about = [block['title'], block['context']].filter((text) => typeof text === 'string' && text !== '');
  const title = about.map((text) => `${String(text)}\n\n`).join('');
  if (source['type'] === 'text')
    return [{ type: 'text', text: title + readText(source['data'], `${path}.source.data`) }];
  if (source['type'] === 'content') return readInputBlocks(source['content'], `${path}.source.content`, report);
  const pdf =
    source['type'] === 'base64' ? readPdf(readText(source['data'], `${path}.source.data`), block['title']) : undefined;
  if (pdf !== undefined) {
    const context = typeof block['context'] === 'string' ? block['context'] : '';
    return context === '' ? [pdf] : [{ type: 'text', text: context }, pdf];
  }
  report(unsupported(`${path}.source.type`, 'only PDFs in base64 and plain text are supported'));
  return [];
}

function reportBlock(block: JsonObject, path: string, report: ReportProviderOnly): void {
  report(unsupported(`${path}.type`, `blocks of type ${nameType(block['type'])} are not supported`));
}

function readInputBlock(block: JsonObject, path: string, report: ReportProviderOnly): InputPart[] {
  switch (block['type']) {
    case 'text':
      return [{ type: 'text', text: readText(block['text'], `${path}.text`) }];
    case 'image':
      return [readImage(block, path)];
    case 'document':
      return readDocument(block, path, report);
    case 'search_result':
      return readTextBlocks(block['content'], `${path}.content`);
    // Refers to a tool that the request declares anyway.
    case 'tool_reference':
      return [];
  }
  reportBlock(block, path, report);
  return [];
}

function readInputBlocks(content: unknown, path: string, report: ReportProviderOnly): InputPart[] {
  return readBlocks(content, path).flatMap(({ block, path: at }) => readInputBlock(block, at, report));
}

/** A user turn: tool results, and the user's own content. */
export function readUserBlocks(
  content: unknown,
  path: string,
  report: ReportProviderOnly,
): { results: ToolResult[]; parts: InputPart[] } {
  const results: ToolResult[] = [];
  const parts: InputPart[] = [];
  for (const { block, path: at } of readBlocks(content, path)) {
    if (block['type'] !== 'tool_result') {
      parts.push(...readInputBlock(block, at, report));
      continue;
    }
    results.push({
      callId: readName(block['tool_use_id'], `${at}.tool_use_id`),
      content: readInputBlocks(block['content'], `${at}.content`, report),
      isError: block['is_error'] === true,
    });
  }
  return { results, parts };
}

function readThinking(block: JsonObject, path: string): AssistantPart {
  const text = isAbsent(block['thinking']) ? '' : readText(block['thinking'], `${path}.thinking`);
  return { type: 'reasoning', text, ...unpackSignature(block['signature']) };
}

export function readAssistantBlocks(content: unknown, path: string, report: ReportProviderOnly): AssistantPart[] {
  return readBlocks(content, path).flatMap(({ block, path: at }): AssistantPart[] => {
    switch (block['type']) {
      case 'text':
        return [{ type: 'text', text: readText(block['text'], `${at}.text`) }];
      case 'thinking':
        return [readThinking(block, at)];
      case 'redacted_thinking':
        return [{ type: 'reasoning', text: '', ...unpackSignature(block['data']) }];
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
    reportBlock(block, at, report);
    return [];
  });
}
