import type { JsonObject } from '../dialects/dialect.ts';
import { invalid } from '../gateway-error.ts';
import type { EndpointInput } from './endpoint.ts';

/** Maximum number of fields in a form. */
const MAX_PARTS = 100;

/** A field as text, or a file. */
type Part = { field: string; value: string } | EndpointInput['files'][number];

/** The parts of a form, at most one more than are allowed. Rejects a malformed form. */
async function listParts(body: Uint8Array, contentType: string): Promise<Part[]> {
  const { Busboy } = await import('@fastify/busboy');
  const parts: Part[] = [];
  return new Promise((resolve, reject) => {
    const parser = new Busboy({
      headers: { 'content-type': contentType },
      limits: { parts: MAX_PARTS + 1, fieldSize: body.length, fieldNameSize: body.length },
      isPartAFile: (_name, _type, fileName) => fileName !== undefined,
    });
    // A part may lack a name, whatever the library's types say.
    parser.on('field', (field: string | undefined, value) => {
      if (field !== undefined) parts.push({ field, value });
    });
    parser.on('file', (field: string | undefined, stream, ...[name, , type]) => {
      // An error that nobody listens for would end the process.
      stream.on('error', reject);
      if (field === undefined) return void stream.resume();
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => parts.push({ field, name, type, bytes: new Uint8Array(Buffer.concat(chunks)) }));
    });
    parser.once('finish', () => resolve(parts));
    parser.on('error', reject);
    parser.end(body);
  });
}

/** Reads a multipart form. A field that occurs several times, or ends in `[]`, is a list. */
export async function readForm(body: unknown, contentType: string): Promise<EndpointInput> {
  if (!(body instanceof Uint8Array)) throw invalid('body', 'must be multipart/form-data');
  let parts: Part[];
  try {
    parts = await listParts(body, contentType);
  } catch {
    throw invalid('body', 'must be a valid multipart/form-data form');
  }
  if (parts.length > MAX_PARTS) throw invalid('body', `must have at most ${MAX_PARTS} parts`);
  const fields: JsonObject = {};
  const files: EndpointInput['files'] = [];
  for (const part of parts) {
    if ('bytes' in part) {
      files.push(part);
      continue;
    }
    const { field, value } = part;
    const before = Object.hasOwn(fields, field) ? fields[field] : undefined;
    const single = before === undefined && !field.endsWith('[]');
    const joined = single ? value : [...(Array.isArray(before) ? before : before === undefined ? [] : [before]), value];
    Object.defineProperty(fields, field, { value: joined, enumerable: true, configurable: true, writable: true });
  }
  return { fields, files };
}

/** Encodes the form again, with some fields replaced. */
export async function buildForm(
  { fields, files }: EndpointInput,
  replaced: JsonObject,
): Promise<{ type: string; data: Uint8Array }> {
  const form = new FormData();
  for (const [field, value] of Object.entries({ ...fields, ...replaced })) {
    for (const each of Array.isArray(value) ? value : [value]) {
      form.append(field, typeof each === 'string' ? each : JSON.stringify(each));
    }
  }
  for (const { field, name, type, bytes } of files)
    form.append(field, new File([new Uint8Array(bytes)], name, { type }));
  const encoded = new Response(form);
  const type = encoded.headers.get('content-type') ?? 'multipart/form-data';
  return { type, data: new Uint8Array(await encoded.arrayBuffer()) };
}
