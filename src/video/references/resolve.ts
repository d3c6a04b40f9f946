import type { ReferenceKeys } from '../contract/generations.ts';
import { findOwnResults } from '../store/assets.ts';
import { findUploads, saveProbe, touchUploads } from '../store/references.ts';
import type { ReferenceKind, StoredUpload } from '../store/references.ts';
import type { VideoPorts } from '../deps.ts';
import { videoErrors } from '../errors.ts';
import { inspectUpload } from './inspect.ts';

type Reference = { field: string; key: string; kind: ReferenceKind };
type Size = { width: number; height: number };

/** References with the keys of the copies for engines, and the picture that decides the aspect ratio of `auto`. */
export type Resolved = { references: ReferenceKeys; picture: Size | undefined };

function listReferences(keys: ReferenceKeys): Reference[] {
  const one = (field: string, key: string | undefined, kind: ReferenceKind) =>
    key === undefined ? [] : [{ field, key, kind }];
  const some = (field: string, list: readonly string[], kind: ReferenceKind) =>
    list.map((key, index) => ({ field: `${field}[${index}]`, key, kind }));
  return [
    ...one('startFrameKey', keys.startFrame, 'image'),
    ...one('endFrameKey', keys.endFrame, 'image'),
    ...one('sourceVideoKey', keys.sourceVideo, 'video'),
    ...some('ingredientImageKeys', keys.ingredientImages, 'image'),
    ...some('characterReferenceImageKeys', keys.characterImages, 'image'),
    ...some('referenceVideoKeys', keys.referenceVideos, 'video'),
    ...one('audioKey', keys.audio, 'audio'),
  ];
}

/**
 * Finds the files of these keys among the organization's own uploads and results, and probes files at their first use.
 * Throws `invalid_reference` for every other key, including those of other organizations.
 */
export async function resolveReferences(
  { db, objects }: Pick<VideoPorts, 'db' | 'objects'>,
  organizationId: string,
  keys: ReferenceKeys,
): Promise<Resolved> {
  const wanted = listReferences(keys);
  if (wanted.length === 0) return { references: keys, picture: undefined };
  const names = [...new Set(wanted.map(({ key }) => key))];
  const uploads = new Map((await findUploads(db, organizationId, names)).map((upload) => [upload.key, upload]));
  const missing = names.filter((name) => !uploads.has(name));
  const results = missing.length === 0 ? [] : await findOwnResults(db, organizationId, missing);
  const clean = new Map(results.map(({ key }) => [key, key]));
  const sizes = new Map<string, Size>(results.map(({ key, facts }) => [key, facts]));

  const looked = new Set<string>();
  for (const { field, key, kind } of wanted) {
    const upload = uploads.get(key);
    if (upload === undefined) {
      if (!clean.has(key)) throw videoErrors.invalidReference(field, 'there is no such file.');
      if (kind !== 'video') throw videoErrors.invalidReference(field, `the file is no ${kind}.`);
      continue;
    }
    // A file named in two fields must satisfy both.
    if (looked.has(`${kind} ${key}`)) continue;
    looked.add(`${kind} ${key}`);
    // An earlier release stored no copy of clips, so they are probed again.
    const isKept = upload.cleanKey !== null && upload.cleanKey !== key;
    const known = upload.kind === kind && isKept ? upload : undefined;
    const { cleanKey, facts } = known ?? (await inspectNew({ db, objects }, organizationId, upload, { kind, field }));
    if (cleanKey !== null) clean.set(key, cleanKey);
    if (facts?.width !== undefined && facts.height !== undefined) {
      sizes.set(key, { width: facts.width, height: facts.height });
    }
  }
  await touchUploads(db, organizationId, [...uploads.keys()]);
  const leading = keys.startFrame ?? keys.sourceVideo ?? keys.endFrame ?? keys.ingredientImages[0];
  return { references: replaceKeys(keys, clean), picture: leading === undefined ? undefined : sizes.get(leading) };
}

async function inspectNew(
  { db, objects }: Pick<VideoPorts, 'db' | 'objects'>,
  organizationId: string,
  upload: StoredUpload,
  { kind, field }: Pick<Reference, 'kind' | 'field'>,
) {
  const probed = await inspectUpload(objects, upload, kind, field);
  await saveProbe(db, organizationId, probed);
  return probed;
}

function replaceKeys(keys: ReferenceKeys, clean: ReadonlyMap<string, string>): ReferenceKeys {
  const swap = (key: string) => clean.get(key) ?? key;
  return Object.fromEntries(
    Object.entries(keys).map(([role, value]) => [role, typeof value === 'string' ? swap(value) : value?.map(swap)]),
  ) as ReferenceKeys;
}
