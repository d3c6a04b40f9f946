import type { JsonObject } from '../dialects/dialect.ts';
import { invalid } from '../gateway-error.ts';
import type { EndpointInput } from './endpoint.ts';

/** Maximum number of fields in a form. */
const MAX_PARTS = 100;

/** Reads a multipart form. A field that occurs several times, or ends in `[]`, is a list. */
export async function readForm(body: unknown, contentType: string): Promise<EndpointInput> {
  if (!(body instanceof Uint8Array)) throw invalid('body', 'must be multipart/form-data');
  let form: FormData;
  try {
    form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw invalid('body', 'must be a valid multipart/form-data form');
  }
  const entries = [...form.entries()];
  if (entries.length > MAX_PARTS) throw invalid('body', `must have at most ${MAX_PARTS} parts`);
  const fields: JsonObject = {};
  const files: EndpointInput['files'] = [];
  for (const [field, value] of entries) {
    if (typeof value !== 'string') {
      files.push({ field, name: value.name, type: value.type, bytes: new Uint8Array(await value.arrayBuffer()) });
      continue;
    }
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
