import type { FastifyInstance } from 'fastify';
import { buildVideoList } from '../contract/common.ts';
import { videoRoutes } from '../contract/routes.ts';
import { errors } from '../../platform/errors.ts';
import { registerRoute } from '../../platform/http/route.ts';
import { newId } from '../../platform/ids.ts';
import { insertUpload, listCharacters } from '../store/references.ts';
import type { ReferenceKind } from '../store/references.ts';
import type { VideoDeps } from '../deps.ts';
import { findBase } from '../../platform/http/public-base.ts';
import { buildCharacter, createCharacter } from './characters.ts';
import { MAX_REFERENCE_BYTES } from './inspect.ts';

const UPLOAD_SECONDS = 15 * 60;
const MAX_NAME = 100;

/** Reduces a file name to the characters that are safe in a key. */
function buildKeyName(fileName: string): string {
  const name = fileName.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replaceAll(/^[.-]+/g, '');
  return name.slice(-MAX_NAME).replaceAll(/^[.-]+/g, '') || 'file';
}

export function registerReferenceRoutes(app: FastifyInstance, deps: VideoDeps): void {
  const { db, objects, settings } = deps;

  registerRoute(app, deps, videoRoutes.createUpload, async ({ body, caller, request }) => {
    const { filename, contentType, sizeBytes } = body;
    const maxBytes = MAX_REFERENCE_BYTES[contentType.split('/')[0] as ReferenceKind];
    if (sizeBytes > maxBytes) throw errors.validation(`sizeBytes: must be at most ${maxBytes}`);
    const key = `uploads/${newId('upl')}/${buildKeyName(filename)}`;
    await insertUpload(db, caller.organizationId, { key, fileName: filename, contentType, sizeBytes });
    const address = await objects.sign({
      method: 'PUT',
      key,
      expiresInSeconds: UPLOAD_SECONDS,
      contentType,
      sizeBytes,
    });
    const data = {
      upload_url: new URL(address, findBase(request, settings.publicUrl)).href,
      s3_key: key,
      headers: { 'content-type': contentType },
      expires_at: new Date(Date.now() + UPLOAD_SECONDS * 1000).toISOString(),
      max_bytes: sizeBytes,
    };
    return { status: 201, body: { data } };
  });

  registerRoute(app, deps, videoRoutes.createCharacter, async ({ caller, request }) => ({
    status: 201,
    body: { data: buildCharacter(await createCharacter(deps, caller.organizationId, request)) },
  }));

  registerRoute(app, deps, videoRoutes.listCharacters, async ({ query, caller }) => {
    const found = await listCharacters(db, caller.organizationId, query);
    return { status: 200, body: buildVideoList({ ...found, rows: found.rows.map(buildCharacter) }, query) };
  });
}
