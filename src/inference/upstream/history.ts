import { createHash } from 'node:crypto';
import { renameCalls } from '../call-ids.ts';
import type { FilePart, ImagePart, ImageUrlPart, InputPart, ModelMessage, ModelRequest, TextPart } from '../model.ts';
import type { UpstreamTarget } from './dialect.ts';
import { asObject } from './wire.ts';

const IMAGE_PLACEHOLDER: TextPart = { type: 'text', text: '[image left out: this model cannot read images]' };
const FILE_PLACEHOLDER: TextPart = { type: 'text', text: '[file left out: this model cannot read files]' };

function withoutImages(parts: InputPart[]): InputPart[] {
  return parts.map((part) => {
    if (part.type === 'text') return part;
    return part.type === 'file' ? FILE_PLACEHOLDER : IMAGE_PLACEHOLDER;
  });
}

function hideImages(message: ModelMessage): ModelMessage {
  if (message.role === 'user') return { role: 'user', content: withoutImages(message.content) };
  if (message.role !== 'tool') return message;
  return {
    role: 'tool',
    results: message.results.map((result) => ({ ...result, content: withoutImages(result.content) })),
  };
}

function isObject(json: string): boolean {
  try {
    return asObject(JSON.parse(json)) !== undefined;
  } catch {
    return false;
  }
}

/** Upstreams parse the arguments of earlier calls again, and some fail on malformed ones. */
function repairArguments(message: ModelMessage): ModelMessage {
  if (message.role !== 'assistant') return message;
  return {
    role: 'assistant',
    content: message.content.map((part) => {
      if (part.type !== 'tool_call') return part;
      if (part.arguments.trim() === '') return { ...part, arguments: '{}' };
      return isObject(part.arguments) ? part : { ...part, arguments: JSON.stringify({ malformed: part.arguments }) };
    }),
  };
}

export type History = { system: string; messages: ModelMessage[] };

/**
 * Prepares the conversation for any dialect: call ids are valid and unique, arguments are JSON objects, text-only models
 * get no images, and leading system messages are joined to the instructions.
 */
export function buildHistory(request: ModelRequest, target: UpstreamTarget): History {
  let start = 0;
  const system = request.system === '' ? [] : [request.system];
  for (const message of request.messages) {
    if (message.role !== 'system') break;
    system.push(joinText(message.content));
    start += 1;
  }
  const messages = renameCalls(request.messages.slice(start)).map(repairArguments);
  return {
    system: system.filter((text) => text.trim() !== '').join('\n\n'),
    messages: target.vision ? messages : messages.map(hideImages),
  };
}

export function joinText(parts: readonly { type: string; text?: string }[], separator = '\n\n'): string {
  return parts.flatMap((part) => (part.type === 'text' && part.text !== undefined ? [part.text] : [])).join(separator);
}

/** The result of a failed tool call, for formats without an error field. */
export function describeToolFailure(text: string): string {
  if (text.trim() === '') return 'Error';
  return /^\W{0,3}error\b/i.test(text) ? text : `Error: ${text}`;
}

/** A system message inside the conversation, for dialects and chat templates that accept one only at the start. */
export function wrapSystem(content: TextPart[]): string {
  return `<system>\n${joinText(content)}\n</system>`;
}

/** A file as both OpenAI formats have it. */
export function buildFile({ mediaType, data, name = 'document.pdf' }: FilePart): Record<string, unknown> {
  return { filename: name, file_data: `data:${mediaType};base64,${data}` };
}

export function buildImageUrl(part: ImagePart | ImageUrlPart): string {
  return part.type === 'image' ? `data:${part.mediaType};base64,${part.data}` : part.url;
}

export function buildBearerHeaders({ apiKey, apiKeyHeader, headers }: UpstreamTarget): Record<string, string> {
  if (apiKey === undefined) return { ...headers };
  return {
    ...(apiKeyHeader === undefined ? { authorization: `Bearer ${apiKey}` } : { [apiKeyHeader]: apiKey }),
    ...headers,
  };
}

/** Longer ids of users are rejected by some upstreams. */
const MAX_USER = 64;

/** The id of a user, or a digest of one that is too long. */
export function limitUser(user: string | undefined): string | undefined {
  if (user === undefined || user.length <= MAX_USER) return user;
  return createHash('sha256').update(user).digest('hex');
}

/** The credentials of any call, in the header of the target's format. */
export function buildAuthHeaders(target: UpstreamTarget): Record<string, string> {
  const { format, apiKey, headers } = target;
  if (format === 'generate-content') return buildBearerHeaders({ apiKeyHeader: 'x-goog-api-key', ...target });
  if (format !== 'messages') return buildBearerHeaders(target);
  const key = apiKey === undefined ? {} : { 'x-api-key': apiKey };
  return { 'anthropic-version': '2023-06-01', ...key, ...headers };
}
