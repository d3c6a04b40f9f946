import type { Readable } from 'node:stream';
import { Readable as ReadableStream } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { StringDecoder } from 'node:string_decoder';
import type { FastifyRequest } from 'fastify';
import { SandboxError } from '../../../sandbox/sandbox.ts';
import type { VolumeFiles } from '../../../sandbox/sandbox.ts';
import { MAX_FILE_BYTES } from '../../contract/files.ts';
import { ApiError, errors } from '../../../platform/errors.ts';
import type { Answer } from '../../../platform/http/route.ts';
import { tooBig } from './file-errors.ts';
import { baseName } from './paths.ts';
import { decideRange } from '../../../platform/http/range.ts';
import { buildFile } from './render.ts';

/** Smaller files are buffered: that is cheaper than a stream, and the read can be retried if the sandbox ends. */
const SMALL_BYTES = 64 * 1024;

async function readWhole(body: Readable): Promise<Buffer> {
  return buffer(body).catch((error: unknown) => {
    throw new SandboxError('the sandbox ended while it answered', { cause: error });
  });
}

/** Whether the caller would rather have bytes than JSON. */
export function wantsBytes({ headers }: FastifyRequest): boolean {
  const types = (headers.accept ?? '').split(',').map((item) => item.split(';', 1)[0]?.trim().toLowerCase());
  const bytes = types.indexOf('application/octet-stream');
  const json = types.indexOf('application/json');
  return bytes >= 0 && (json < 0 || bytes < json);
}

/** Never shown by a browser in our name, and saved under the file's own. */
function nameFile(path: string): string {
  const name = baseName(path);
  const plain = name.replaceAll(/[^A-Za-z0-9._ -]/g, '_');
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** The bytes as a stream, or one range of them. Throws `range_not_satisfiable`. */
export async function sendBytes(files: VolumeFiles, path: string, range: string | undefined): Promise<Answer> {
  const headers = {
    'content-type': 'application/octet-stream',
    'content-disposition': nameFile(path),
    'x-content-type-options': 'nosniff',
    'accept-ranges': 'bytes',
  };
  const stat = range === undefined ? undefined : await files.stat(path);
  const part = stat?.type === 'file' ? decideRange(range, stat.sizeBytes) : undefined;
  if (part === 'unsatisfiable') {
    throw new ApiError('range_not_satisfiable', `The file has ${stat?.sizeBytes} bytes.`);
  }
  const { length, body } = await files.open(path, { maxFileBytes: MAX_FILE_BYTES, ...part });
  if (!Number.isSafeInteger(length)) {
    discardBody(body);
    throw errors.unavailable('The volume cannot be reached; try again shortly.');
  }
  const size = { ...headers, 'content-length': String(length) };
  const bytes = body instanceof Uint8Array || length > SMALL_BYTES ? body : await readWhole(body);
  if (part === undefined || stat === undefined) return { status: 200, body: bytes, headers: size };
  const contentRange = `bytes ${part.offset}-${part.offset + length - 1}/${stat.sizeBytes}`;
  return { status: 206, body: bytes, headers: { ...size, 'content-range': contentRange } };
}

/** The content inside JSON, written as it is read: the file is never held whole. */
export async function sendContent(files: VolumeFiles, path: string): Promise<Answer> {
  const { entry, body } = await files.openDescribed(path, { maxFileBytes: MAX_FILE_BYTES });
  if (entry.sizeBytes > MAX_FILE_BYTES) {
    discardBody(body);
    throw tooBig('file');
  }
  const encoding = entry.text === true ? 'utf-8' : 'base64';
  const file = await buildFile({ ...entry, path });
  const head = JSON.stringify({ ...file, object: 'file_content', encoding });
  const stream = ReadableStream.from(writeJson(head, body, encoding), { objectMode: false });
  return { status: 200, body: stream, headers: { 'content-type': 'application/json; charset=utf-8' } };
}

function discardBody(body: Readable | Uint8Array): void {
  if (!(body instanceof Uint8Array)) body.destroy();
}

async function* writeJson(
  head: string,
  body: Readable | Uint8Array,
  encoding: 'utf-8' | 'base64',
): AsyncGenerator<string> {
  yield `${head.slice(0, -1)},"content":"`;
  const decoder = new StringDecoder(encoding === 'utf-8' ? 'utf8' : 'base64');
  const escape = (text: string): string => (encoding === 'utf-8' ? JSON.stringify(text).slice(1, -1) : text);
  const chunks = body instanceof Uint8Array ? [Buffer.from(body.buffer, body.byteOffset, body.length)] : body;
  for await (const chunk of chunks as AsyncIterable<Buffer> | Buffer[]) yield escape(decoder.write(chunk));
  yield `${escape(decoder.end())}"}`;
}
