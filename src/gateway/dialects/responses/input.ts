// Tests: test/gateway/responses.test.ts, test/gateway/open-responses.test.ts
import type { AssistantPart, InputPart, ModelMessage } from '../../../inference/model.ts';
import { isRecord, omitUndefined } from '../../../platform/records.ts';
import { invalid, unsupported } from '../../gateway-error.ts';
import type { JsonObject } from '../dialect.ts';
import {
  isAbsent,
  nameType,
  readName,
  readObject,
  readOptionalList,
  readOptionalText,
  readParts,
  readText,
} from '../fields.ts';
import { addAssistant, addResults, pairCalls } from '../history.ts';
import { readDetail, readImageUrl, readPdf } from '../images.ts';
import { unpackSignature } from '../signature.ts';
import type { ToolNames } from './tool-names.ts';

function readImage(part: JsonObject, path: string): InputPart {
  if (!isAbsent(part['file_id']))
    throw unsupported(`${path}.file_id`, 'files are not kept; send the image as a base64 data URL');
  const detail = readDetail(part['detail'], `${path}.detail`);
  return readImageUrl(readText(part['image_url'], `${path}.image_url`), `${path}.image_url`, {
    remote: false,
    ...omitUndefined({ detail }),
  });
}

function readFile(part: JsonObject, path: string): InputPart {
  if (!isAbsent(part['file_id']) || !isAbsent(part['file_url'])) {
    throw unsupported(`${path}.type`, 'files are not kept or fetched; send a PDF as file_data');
  }
  const pdf = readPdf(readText(part['file_data'], `${path}.file_data`), part['filename']);
  if (pdf === undefined) throw invalid(`${path}.file_data`, 'must be a PDF as a base64 data URL');
  return pdf;
}

function readInputParts(content: unknown, path: string): InputPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return readParts(content, path).map((item, index) => {
    const at = `${path}[${index}]`;
    const part = readObject(item, at);
    switch (part['type']) {
      // Some clients return output parts as input.
      case 'output_text':
      case 'input_text':
        return { type: 'text', text: readText(part['text'], `${at}.text`) };
      case 'input_image':
        return readImage(part, at);
      case 'input_file':
        return readFile(part, at);
    }
    throw unsupported(`${at}.type`, 'must be input_text, input_image or input_file');
  });
}

function readAssistantParts(content: unknown, path: string): AssistantPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return readParts(content, path).map((item, index): AssistantPart => {
    const at = `${path}[${index}]`;
    const part = readObject(item, at);
    if (part['type'] === 'refusal') return { type: 'refusal', text: readText(part['refusal'], `${at}.refusal`) };
    if (part['type'] === 'output_text' || part['type'] === 'input_text') {
      return { type: 'text', text: readText(part['text'], `${at}.text`) };
    }
    throw unsupported(`${at}.type`, 'must be output_text or refusal');
  });
}

function readMessage(item: JsonObject, path: string, messages: ModelMessage[]): void {
  const content = `${path}.content`;
  switch (item['role']) {
    case 'user':
      messages.push({ role: 'user', content: readInputParts(item['content'], content) });
      return;
    case 'assistant':
      addAssistant(messages, readAssistantParts(item['content'], content));
      return;
    case 'system':
    case 'developer': {
      const texts = readInputParts(item['content'], content).map((part, index) => {
        if (part.type !== 'text') throw unsupported(`${content}[${index}].type`, 'must be input_text');
        return part;
      });
      messages.push({ role: 'system', content: texts });
      return;
    }
  }
  throw invalid(`${path}.role`, 'must be user, assistant, system or developer');
}

function joinTexts(value: unknown, path: string, separator: string): string {
  return readOptionalList(value, path)
    .map((each) => (isRecord(each) && typeof each['text'] === 'string' ? each['text'] : ''))
    .join(separator);
}

/** Reasoning without a packed signature is not forwarded to any upstream, but clients may return it. */
function readReasoning(item: JsonObject, path: string): AssistantPart {
  const summary = joinTexts(item['summary'], `${path}.summary`, '\n\n');
  const text = joinTexts(item['content'], `${path}.content`, '') || summary;
  return { type: 'reasoning', text, ...unpackSignature(item['encrypted_content']) };
}

function readFunctionCall(item: JsonObject, path: string, names: ToolNames): AssistantPart {
  const namespace = readOptionalText(item['namespace'], `${path}.namespace`);
  return {
    type: 'tool_call',
    id: readName(item['call_id'], `${path}.call_id`),
    name: names.flatten(readName(item['name'], `${path}.name`), namespace),
    arguments: readText(item['arguments'], `${path}.arguments`) || '{}',
  };
}

function readCustomCall(item: JsonObject, path: string, names: ToolNames): AssistantPart {
  const namespace = readOptionalText(item['namespace'], `${path}.namespace`);
  return {
    type: 'tool_call',
    id: readName(item['call_id'], `${path}.call_id`),
    name: names.flatten(readName(item['name'], `${path}.name`), namespace),
    arguments: JSON.stringify({ input: readText(item['input'], `${path}.input`) }),
  };
}

function readItem(value: unknown, path: string, names: ToolNames, messages: ModelMessage[]): void {
  const item = readObject(value, path);
  // Messages may omit their type.
  const type = isAbsent(item['type']) && !isAbsent(item['role']) ? 'message' : item['type'];
  switch (type) {
    case 'message':
      return readMessage(item, path, messages);
    case 'reasoning':
      return addAssistant(messages, [readReasoning(item, path)]);
    case 'function_call':
      return addAssistant(messages, [readFunctionCall(item, path, names)]);
    case 'custom_tool_call':
      return addAssistant(messages, [readCustomCall(item, path, names)]);
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const callId = readName(item['call_id'], `${path}.call_id`);
      const content = readInputParts(item['output'], `${path}.output`);
      return addResults(messages, [{ callId, content, isError: false }]);
    }
    case 'item_reference':
      throw unsupported(
        `${path}.type`,
        'nothing is stored here, so items cannot be referred to; send them whole (store: false in the client)',
      );
  }
  throw unsupported(`${path}.type`, `items of type ${nameType(item['type'])} are not supported`);
}

export function readInput(value: unknown, names: ToolNames): ModelMessage[] {
  if (typeof value === 'string') return [{ role: 'user', content: [{ type: 'text', text: value }] }];
  if (isAbsent(value)) throw invalid('input', 'is required');
  const items = readParts(value, 'input');
  if (items.length === 0) throw invalid('input', 'must not be empty');
  const messages: ModelMessage[] = [];
  for (const [index, item] of items.entries()) readItem(item, `input[${index}]`, names, messages);
  return pairCalls(messages, 'input');
}
