import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { CharacterCreate } from '../contract/catalog.ts';
import type { Character } from '../contract/catalog.ts';
import { describeIssues } from '../../platform/contract/validation.ts';
import { EgressError } from '../../platform/egress/error.ts';
import { errors } from '../../platform/errors.ts';
import { findUnstorable } from '../../platform/http/text.ts';
import { newId } from '../../platform/ids.ts';
import { insertCharacter, insertUpload, saveProbe } from '../store/references.ts';
import type { StoredCharacter } from '../store/references.ts';
import type { VideoPorts } from '../deps.ts';
import { VideoApiError } from '../errors.ts';
import { inspectFile, withScratch } from './inspect.ts';

const MAX_IMAGES = 10;
const MAX_IMAGE_BYTES = 10 * 1024 ** 2;
const FETCH_MS = 20_000;

/** Images in a scratch folder, each with the form field that contained it. */
type CharacterInput = { name: string; description: string | null; images: { field: string; path: string }[] };

export function buildCharacter({ id, name, description, createdAt, imageKeys }: StoredCharacter): Character {
  return { id, name, description, created_at: createdAt.getTime(), image_keys: imageKeys };
}

/** Stores a character with its images, after they were probed and their metadata was removed. */
export async function createCharacter(
  ports: VideoPorts,
  organizationId: string,
  request: FastifyRequest,
): Promise<StoredCharacter> {
  return withScratch(async (folder) => {
    const given = request.isMultipart() ? await readForm(request, folder) : await readJson(ports, request.body, folder);
    const imageKeys: string[] = [];
    for (const { field, path } of given.images) imageKeys.push(await storeImage(ports, organizationId, field, path));
    const { name, description } = given;
    return insertCharacter(ports.db, organizationId, { id: newId('chr'), name, description, imageKeys });
  });
}

async function storeImage(ports: VideoPorts, organizationId: string, field: string, path: string): Promise<string> {
  const key = `uploads/${newId('upl')}/character`;
  // Here an invalid image is a mistake in the request, not an unusable reference.
  const probed = await inspectFile(ports.objects, { path, key, kind: 'image', field }).catch((error: unknown) => {
    throw error instanceof VideoApiError ? errors.validation(error.message) : error;
  });
  await ports.objects.put(key, createReadStream(`${path}.clean`), { contentType: 'image/jpeg' });
  const upload = { key, fileName: 'character', contentType: 'image/jpeg', sizeBytes: 0 };
  await insertUpload(ports.db, organizationId, upload);
  await saveProbe(ports.db, organizationId, probed);
  return key;
}

function parse(value: unknown): CharacterCreate {
  const result = CharacterCreate.safeParse(value);
  if (!result.success) throw errors.validation(describeIssues(result.error, 'body'));
  const unstorable = findUnstorable(value);
  if (unstorable !== undefined) throw errors.validation(`body: ${unstorable.reason}`);
  return result.data;
}

async function readJson(ports: VideoPorts, body: unknown, folder: string): Promise<CharacterInput> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw errors.validation('body: must be of type object');
  }
  const { name, description = null, images } = parse(body);
  const bad = images.findIndex((image) => !/^https?:\/\//i.test(image));
  if (bad !== -1) throw errors.validation(`images[${bad}]: must be an address that begins with http or https`);
  const files = [];
  for (const [index, url] of images.entries()) {
    const field = `images[${index}]`;
    const path = join(folder, String(index));
    await download(ports, url, path, field);
    files.push({ field, path });
  }
  return { name, description, images: files };
}

async function download({ egress }: VideoPorts, url: string, path: string, field: string): Promise<void> {
  try {
    const response = await egress.fetch(url, { maxBytes: MAX_IMAGE_BYTES, timeoutMs: FETCH_MS });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw errors.validation(`${field}: answered ${response.status}`);
    }
    await pipeline(Readable.fromWeb(response.body as never), createWriteStream(path));
  } catch (error) {
    if (error instanceof EgressError) throw errors.validation(`${field}: ${error.message}`);
    throw error;
  }
}

async function saveFile(part: MultipartFile, path: string): Promise<void> {
  await pipeline(part.file, createWriteStream(path));
  if (part.file.truncated) throw errors.validation(`images: must each be at most ${MAX_IMAGE_BYTES} bytes`);
}

async function readForm(request: FastifyRequest, folder: string): Promise<CharacterInput> {
  const fields: Record<string, unknown> = {};
  const images: CharacterInput['images'] = [];
  const limits = { fileSize: MAX_IMAGE_BYTES, files: MAX_IMAGES + 1, fields: 20, fieldSize: 10_000 };
  try {
    for await (const part of request.parts({ limits })) {
      if (part.type === 'file') {
        const field = `images[${images.length}]`;
        const path = join(folder, String(images.length));
        if (part.fieldname !== 'images' && part.fieldname !== 'images[]') part.file.resume();
        else {
          await saveFile(part, path);
          images.push({ field, path });
        }
      } else if (part.fieldname === 'images' || part.fieldname === 'images[]') {
        throw errors.validation('images: must be files');
      } else fields[part.fieldname] = part.value;
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'FST_FILES_LIMIT') throw errors.validation(`images: must be at most ${MAX_IMAGES} items`);
    // The parser's errors about malformed forms have no code; disk errors and our own have one.
    if (code.startsWith('FST_') || code === '')
      throw errors.validation('body: must be a valid form of at most 20 fields');
    throw error;
  }
  const { name, description = null } = parse({ ...fields, images: images.map(({ field }) => field) });
  return { name, description, images };
}
