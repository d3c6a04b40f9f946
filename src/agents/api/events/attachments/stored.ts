import { Readable } from 'node:stream';
import type { Objects } from '../../../../platform/objects/objects.ts';
import { attachmentPrefix, readReference } from '../../../contract/attachments.ts';

// In JSON a quote inside a string is escaped, so this matches a field and never a caller's text.
const FIELD = /(?<="dataUrl":")capstan-object:[^"\\]{1,600}(?=")/g;

/** Whether JSON text names attachments that have to be put in. */
export function hasReferences(json: string): boolean {
  return json.includes('"dataUrl":"capstan-object:');
}

/** JSON text piece by piece, with data URLs in the places of references to attachments of this session. */
export async function* expandJson(json: string, sessionId: string, objects: Objects): AsyncGenerator<string> {
  let at = 0;
  for (const match of json.matchAll(FIELD)) {
    const reference = readReference(match[0]);
    if (reference === undefined || !reference.key.startsWith(attachmentPrefix(sessionId))) continue;
    yield json.slice(at, match.index);
    at = match.index + match[0].length;
    yield `data:${reference.mediaType};base64,`;
    yield* encodeObject(objects, reference.key);
  }
  yield json.slice(at);
}

/** JSON text with the paths of attachments in an export, relative to their session, in the places of references. */
export function nameAttachments(json: string, sessionId: string): string {
  const prefix = attachmentPrefix(sessionId);
  return json.replaceAll(FIELD, (text) => {
    const key = readReference(text)?.key;
    return key?.startsWith(prefix) === true ? `attachments/${key.slice(prefix.length)}` : text;
  });
}

async function* encodeObject(objects: Objects, key: string): AsyncGenerator<string> {
  const found = await objects.get(key);
  if (found === undefined) return;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of found.body as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % 3);
    rest = bytes.subarray(whole);
    yield bytes.toString('base64', 0, whole);
  }
  yield rest.toString('base64');
}

/** A body as it is sent: itself, or a stream of its JSON where attachments have to be put in. */
export function renderBody(
  body: unknown,
  sessionId: string,
  objects: Objects,
): { body: unknown; headers: Record<string, string> } {
  const json = JSON.stringify(body);
  if (!hasReferences(json)) return { body, headers: {} };
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return { body: Readable.from(expandJson(json, sessionId, objects), { objectMode: false }), headers };
}

export async function deleteAttachments(objects: Objects, sessionId: string): Promise<void> {
  for await (const { key } of objects.list(attachmentPrefix(sessionId))) await objects.delete(key);
}
