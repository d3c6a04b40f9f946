import { isRecord } from '../../platform/records.ts';

/** What a call came to, as the loop takes it. */
export type McpOutcome = {
  content: string;
  isError: boolean;
  images?: { type: 'image'; mediaType: string; data: string }[];
};

type Block = Record<string, unknown>;

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);
const MAX_IMAGES = 10;

export function failCall(message: string): McpOutcome {
  return { content: JSON.stringify({ error: message }), isError: true };
}

/** The answer to `tools/call`, whatever a server makes of it. */
export function readCallResult(answer: unknown): McpOutcome {
  if (!isRecord(answer)) return failCall('The server answered with something that is no result.');
  const blocks = Array.isArray(answer['content']) ? answer['content'].filter(isRecord) : [];
  const images = blocks.flatMap(readImage).slice(0, MAX_IMAGES);
  const texts = blocks.flatMap(describeBlock);
  const structured = answer['structuredContent'];
  if (texts.length === 0 && structured !== undefined) texts.push(JSON.stringify(structured));
  // Servers of before 2024-11-05.
  if (texts.length === 0 && answer['toolResult'] !== undefined) texts.push(JSON.stringify(answer['toolResult']));
  return {
    content: texts.length === 0 ? '(no content)' : texts.join('\n'),
    isError: answer['isError'] === true,
    ...(images.length === 0 ? {} : { images }),
  };
}

/** The answer to `resources/read`. */
export function readResource(answer: unknown): McpOutcome {
  const contents = isRecord(answer) && Array.isArray(answer['contents']) ? answer['contents'].filter(isRecord) : [];
  const texts = contents.flatMap((resource) => describeBlock({ type: 'resource', resource }));
  return { content: texts.length === 0 ? '(no content)' : texts.join('\n'), isError: false };
}

/** Any other answer, as JSON without the protocol's own fields. */
export function readPlain(answer: unknown): McpOutcome {
  if (!isRecord(answer)) return failCall('The server answered with something that is no result.');
  const { _meta, ...rest } = answer;
  return { content: JSON.stringify(rest), isError: false };
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function readImage(block: Block): NonNullable<McpOutcome['images']> {
  const { type, data, mimeType } = block;
  if (type !== 'image' || typeof data !== 'string' || typeof mimeType !== 'string' || !IMAGES.has(mimeType)) return [];
  return [{ type: 'image', mediaType: mimeType, data }];
}

function describeBlock(block: Block): string[] {
  const { type, text, data, mimeType, uri, name } = block;
  switch (type) {
    case 'text':
      return typeof text === 'string' && text !== '' ? [text] : [];
    case 'image':
      return [`[image ${show(mimeType)}]`];
    case 'audio':
      return [`[audio ${show(mimeType)}, ${typeof data === 'string' ? data.length : 0} characters of base64]`];
    case 'resource_link':
      return [`[resource ${show(uri)} ${show(name)}]`];
    case 'resource': {
      const resource = isRecord(block['resource']) ? block['resource'] : {};
      if (typeof resource['text'] === 'string') return [resource['text']];
      return [`[resource ${show(resource['uri'])} ${show(resource['mimeType'])}, binary]`];
    }
    default:
      return [JSON.stringify(block)];
  }
}
