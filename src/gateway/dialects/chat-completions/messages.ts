import type { AssistantPart, InputPart, ModelMessage, TextPart } from '../../../inference/model.ts';
import { isRecord, omitUndefined } from '../../../platform/records.ts';
import { invalid, unsupported } from '../../gateway-error.ts';
import type { JsonObject } from '../dialect.ts';
import { isAbsent, readName, readObject, readOptionalList, readParts, readText } from '../fields.ts';
import { addAssistant, addResults, pairCalls } from '../history.ts';
import { readDetail, readImageUrl, readPdf } from '../images.ts';
import { unpackSignature } from '../signature.ts';
import { CHAT_ONLY } from './forward-only.ts';
import type { ReportForwardOnly } from './forward-only.ts';

function readTexts(content: unknown, path: string): TextPart[] {
  if (isAbsent(content)) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return readParts(content, path).map((item, index) => {
    const part = readObject(item, `${path}[${index}]`);
    if (part['type'] !== 'text') throw unsupported(`${path}[${index}].type`, 'must be text');
    return { type: 'text', text: readText(part['text'], `${path}[${index}].text`) };
  });
}

/** Content parts that have no form in other formats. */
const FORWARD_ONLY: readonly unknown[] = ['input_audio', 'file'];

function readInputPart(part: JsonObject, path: string, report: ReportForwardOnly): InputPart {
  const file = part['type'] === 'file' && isRecord(part['file']) ? part['file'] : {};
  const pdf = typeof file['file_data'] === 'string' ? readPdf(file['file_data'], file['filename']) : undefined;
  if (pdf !== undefined) return pdf;
  if (FORWARD_ONLY.includes(part['type'])) {
    report(unsupported(`${path}.type`, CHAT_ONLY));
    return { type: 'text', text: '' };
  }
  if (part['type'] === 'text') return { type: 'text', text: readText(part['text'], `${path}.text`) };
  if (part['type'] !== 'image_url') throw unsupported(`${path}.type`, 'must be text or image_url');
  const image = isRecord(part['image_url']) ? part['image_url'] : { url: part['image_url'] };
  const detail = readDetail(image['detail'], `${path}.image_url.detail`);
  return readImageUrl(readText(image['url'], `${path}.image_url.url`), `${path}.image_url.url`, {
    remote: true,
    ...omitUndefined({ detail }),
  });
}

function readInput(content: unknown, path: string, report: ReportForwardOnly): InputPart[] {
  if (isAbsent(content)) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return readParts(content, path).map((item, index) =>
    readInputPart(readObject(item, `${path}[${index}]`), `${path}[${index}]`, report),
  );
}

/** A conversation while it is read. */
type Conversation = { messages: ModelMessage[]; report: ReportForwardOnly };

/** A user message may contain tool results besides its own content. */
function readUser(content: unknown, path: string, { messages, report }: Conversation): void {
  const said: InputPart[] = [];
  const items = typeof content === 'string' || isAbsent(content) ? [] : readParts(content, path);
  for (const [index, item] of items.entries()) {
    const at = `${path}[${index}]`;
    const part = readObject(item, at);
    if (part['type'] !== 'tool_result') {
      said.push(readInputPart(part, at, report));
      continue;
    }
    const callId = readName(part['tool_call_id'] ?? part['tool_use_id'], `${at}.tool_call_id`);
    const isError = part['is_error'] === true;
    addResults(messages, [{ callId, content: readInput(part['content'], `${at}.content`, report), isError }]);
  }
  if (typeof content === 'string') said.push({ type: 'text', text: content });
  if (said.length > 0 || items.length === 0) messages.push({ role: 'user', content: said });
}

function readReasoning(message: JsonObject): AssistantPart[] {
  const text = message['reasoning_content'] ?? message['reasoning'];
  const details = Array.isArray(message['reasoning_details']) ? (message['reasoning_details'] as unknown[]) : [];
  const signatures = details.flatMap((detail) => {
    if (!isRecord(detail)) return [];
    const signature = unpackSignature(detail['data']);
    return signature === undefined
      ? []
      : [{ signature, text: typeof detail['text'] === 'string' ? detail['text'] : '' }];
  });
  // Each signature comes with its own text: a message has one reasoning text, which may consist of several parts.
  if (signatures.length > 0) {
    return signatures.map(({ signature, text: own }): AssistantPart => ({
      type: 'reasoning',
      text: own,
      ...signature,
    }));
  }
  return typeof text === 'string' && text !== '' ? [{ type: 'reasoning', text }] : [];
}

function readCall(item: unknown, path: string): AssistantPart {
  const call = readObject(item, path);
  if (!isAbsent(call['type']) && call['type'] !== 'function') throw unsupported(`${path}.type`, 'must be function');
  const body = readObject(call['function'], `${path}.function`);
  const given = body['arguments'];
  return {
    type: 'tool_call',
    id: readName(call['id'], `${path}.id`),
    name: readName(body['name'], `${path}.function.name`),
    arguments: isRecord(given)
      ? JSON.stringify(given)
      : isAbsent(given)
        ? '{}'
        : readText(given, `${path}.function.arguments`),
  };
}

function readAssistant(message: JsonObject, path: string): AssistantPart[] {
  const parts: AssistantPart[] = readReasoning(message);
  const { content } = message;
  if (typeof content === 'string') {
    if (content !== '') parts.push({ type: 'text', text: content });
  } else {
    for (const [index, item] of readOptionalList(content, `${path}.content`).entries()) {
      const at = `${path}.content[${index}]`;
      const part = readObject(item, at);
      if (part['type'] === 'refusal') parts.push({ type: 'refusal', text: readText(part['refusal'], `${at}.refusal`) });
      else if (part['type'] === 'text') parts.push({ type: 'text', text: readText(part['text'], `${at}.text`) });
      else throw unsupported(`${at}.type`, 'must be text or refusal');
    }
  }
  if (typeof message['refusal'] === 'string' && message['refusal'] !== '') {
    parts.push({ type: 'refusal', text: message['refusal'] });
  }
  const calls = readOptionalList(message['tool_calls'], `${path}.tool_calls`);
  return [...parts, ...calls.map((call, index) => readCall(call, `${path}.tool_calls[${index}]`))];
}

function readMessage(item: unknown, path: string, conversation: Conversation): void {
  const { messages, report } = conversation;
  const message = readObject(item, path);
  switch (message['role']) {
    case 'system':
    case 'developer':
      messages.push({ role: 'system', content: readTexts(message['content'], `${path}.content`) });
      return;
    case 'user':
      readUser(message['content'], `${path}.content`, conversation);
      return;
    case 'assistant':
      if (!isAbsent(message['audio'])) report(unsupported(`${path}.audio`, CHAT_ONLY));
      addAssistant(messages, readAssistant(message, path));
      return;
    case 'tool': {
      const callId = readName(message['tool_call_id'], `${path}.tool_call_id`);
      // Not a field of the format: Capstan's workers send it to a gateway of Capstan.
      const isError = message['is_error'] === true;
      addResults(messages, [{ callId, content: readInput(message['content'], `${path}.content`, report), isError }]);
      return;
    }
  }
  throw invalid(`${path}.role`, 'must be system, developer, user, assistant or tool');
}

export function readConversation(items: unknown[], report: ReportForwardOnly): ModelMessage[] {
  if (items.length === 0) throw invalid('messages', 'must not be empty');
  const messages: ModelMessage[] = [];
  for (const [index, item] of items.entries()) readMessage(item, `messages[${index}]`, { messages, report });
  return pairCalls(messages, 'messages');
}
