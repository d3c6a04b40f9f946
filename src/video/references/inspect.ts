import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Objects } from '../../platform/objects/objects.ts';
import { videoErrors } from '../errors.ts';
import { InvalidReferenceError } from '../media/error.ts';
import { probeReference } from '../media/probe.ts';
import type { ProbedUpload, ReferenceKind, StoredUpload } from '../store/references.ts';

/** The maximum size of a reference, in bytes. */
export const MAX_REFERENCE_BYTES: Readonly<Record<ReferenceKind, number>> = {
  image: 20 * 1024 ** 2,
  video: 512 * 1024 ** 2,
  audio: 64 * 1024 ** 2,
};

/** Runs the work with a scratch folder that is removed afterwards. */
export async function withScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'capstan-video-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Copies an object into a file; false if the object does not exist. */
export async function saveObject(objects: Objects, key: string, path: string, signal?: AbortSignal): Promise<boolean> {
  const object = await objects.get(key);
  if (object === undefined) return false;
  await pipeline(object.body, createWriteStream(path), { signal });
  return true;
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex').slice(0, 32);
}

/**
 * Probes a file and stores the copy that engines receive. Its key is derived from its content, and images lose their
 * metadata. Later writes to the upload therefore cannot change a file that has passed the checks. Throws
 * `invalid_reference` naming the field.
 */
export async function inspectFile(
  objects: Objects,
  { path, key, kind, field }: { path: string; key: string; kind: ReferenceKind; field: string },
): Promise<ProbedUpload> {
  const keep = async (file: string, contentType: string) => {
    const cleanKey = `${key}.${await hashFile(file)}`;
    await objects.put(cleanKey, createReadStream(file), { contentType });
    return cleanKey;
  };
  try {
    if (kind !== 'image') {
      const facts = await probeReference(path, kind);
      const size = 'width' in facts ? { width: facts.width, height: facts.height } : null;
      return { key, kind, cleanKey: await keep(path, 'application/octet-stream'), facts: size };
    }
    const clean = `${path}.clean`;
    const { normalizeImage } = await import('../media/image.ts');
    const { mime, width, height } = await normalizeImage(path, clean);
    return { key, kind, cleanKey: await keep(clean, mime), facts: { width, height } };
  } catch (error) {
    if (error instanceof InvalidReferenceError) throw videoErrors.invalidReference(field, error.message);
    throw error;
  }
}

/** Probes an upload at its first use, or at its first use as another kind. Throws `invalid_reference`. */
export async function inspectUpload(
  objects: Objects,
  upload: StoredUpload,
  kind: ReferenceKind,
  field: string,
): Promise<ProbedUpload> {
  const info = await objects.head(upload.key);
  if (info === undefined) throw videoErrors.invalidReference(field, 'nothing has been uploaded under this key.');
  if (info.sizeBytes > MAX_REFERENCE_BYTES[kind]) {
    throw videoErrors.invalidReference(field, `the file is larger than ${MAX_REFERENCE_BYTES[kind]} bytes.`);
  }
  return withScratch(async (folder) => {
    const path = join(folder, 'reference');
    if (!(await saveObject(objects, upload.key, path))) {
      throw videoErrors.invalidReference(field, 'nothing has been uploaded under this key.');
    }
    return inspectFile(objects, { path, key: upload.key, kind, field });
  });
}
