import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { FastifyRequest } from 'fastify';
import { FileUploadFields, FileWrite, MAX_FILE_BYTES } from '../../contract/files.ts';
import { describeIssues } from '../../../platform/contract/validation.ts';
import { ApiError, errors } from '../../../platform/errors.ts';
import { checkBase64, decodeContent, measureContent } from './decode.ts';
import { tooBig } from './file-errors.ts';

/** An incoming file, from any kind of body. Call `release` after it was stored or rejected. */
export type Upload = {
  path: string;
  overwrite: boolean;
  createParents: boolean;
  source: AsyncIterable<Uint8Array>;
  /** 0 where it is not known yet */
  sizeBytes: number;
  release(): Promise<void>;
};

type Target = { path?: string | undefined; overwrite: boolean; createParents: boolean };

const NOTHING = () => Promise.resolve();
const FIELD_BYTES = 16 * 1024;

/** Throws `validation_error` for a body that is none of the three forms, or too big as far as one can tell yet. */
export async function readUpload(request: FastifyRequest, query: Target): Promise<Upload> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'multipart/form-data') return readForm(request);
  if (type === 'application/octet-stream') return readRaw(request, query);
  return readJson(request.body);
}

function readJson(body: unknown): Upload {
  if (body === undefined) throw errors.validation('body: is required');
  const parsed = FileWrite.safeParse(body);
  if (!parsed.success) throw errors.validation(describeIssues(parsed.error, 'body', body));
  const { path, overwrite, createParents, content, encoding } = parsed.data;
  if (encoding === 'base64' && !checkBase64(content)) throw errors.validation('content: must be valid base64');
  if (encoding === 'utf-8' && !content.isWellFormed()) throw errors.validation('content: must be valid Unicode');
  const sizeBytes = measureContent(content, encoding);
  if (sizeBytes > MAX_FILE_BYTES) throw tooBig('content');
  return { path, overwrite, createParents, sizeBytes, source: decodeContent(content, encoding), release: NOTHING };
}

function readRaw(request: FastifyRequest, { path, overwrite, createParents }: Target): Upload {
  if (path === undefined) throw errors.validation('path: is required');
  const sizeBytes = Number(request.headers['content-length'] ?? 0);
  if (sizeBytes > MAX_FILE_BYTES) throw tooBig('body');
  const release = async () => drain(request.raw);
  return { path, overwrite, createParents, sizeBytes, source: streamBody(request.raw), release };
}

/** Reads and discards the rest of a rejected body, so that the response is sent and the connection stays usable. */
function drain(raw: FastifyRequest['raw']): void {
  setImmediate(() => raw.resume());
}

/** The request itself stays usable: an answer may have to go out while the rest of the body still comes in. */
async function* streamBody(raw: FastifyRequest['raw']): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const chunk of raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > MAX_FILE_BYTES) throw tooBig('body');
      yield chunk;
    }
  } catch (error) {
    throw error instanceof ApiError ? error : errors.validation('body: must be sent to its end');
  } finally {
    drain(raw);
  }
}

/** Fields may follow the file, so the file waits on disk until all of them are known. */
async function readForm(request: FastifyRequest): Promise<Upload> {
  const folder = await mkdtemp(join(tmpdir(), 'capstan-upload-'));
  const release = () => rm(folder, { recursive: true, force: true });
  const file = join(folder, 'file');
  try {
    const { name, fields } = await readParts(request, file);
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) throw tooBig('file');
    const sent = { path: name, ...(request.query as object), ...fields };
    const parsed = FileUploadFields.safeParse(sent);
    if (!parsed.success) throw errors.validation(describeIssues(parsed.error, 'body', sent));
    const { path, overwrite, createParents } = parsed.data;
    if (path === undefined) throw errors.validation('path: is required');
    return { path, overwrite, createParents, sizeBytes: size, source: createReadStream(file), release };
  } catch (error) {
    await release();
    throw error instanceof ApiError ? error : errors.validation('body: must be a valid form');
  }
}

async function readParts(
  request: FastifyRequest,
  file: string,
): Promise<{ name: string | undefined; fields: Record<string, unknown> }> {
  const fields: Record<string, unknown> = {};
  const limits = { fileSize: MAX_FILE_BYTES + 1, files: 1, fields: 10, fieldSize: FIELD_BYTES, parts: 11 };
  let name: string | undefined;
  let found = false;
  for await (const part of request.parts({ limits })) {
    if (part.type === 'field') fields[part.fieldname] = part.value;
    else if (part.fieldname === 'file') {
      found = true;
      name = part.filename;
      await pipeline(part.file, createWriteStream(file));
    } else part.file.resume();
  }
  if (!found) throw errors.validation('file: is required');
  return { name, fields };
}
