import multipart from '@fastify/multipart';
import type { FastifyError, FastifyInstance } from 'fastify';
import { MAX_FILE_BYTES, RESERVED_FOLDERS } from '../../contract/files.ts';
import type { WorkspaceFile } from '../../contract/files.ts';
import { fileRoutes } from '../../contract/routes/files.ts';
import { errors } from '../../../platform/errors.ts';
import type { Caller } from '../../../platform/http/deps.ts';
import type { ApiDeps } from '../deps.ts';
import { sendError } from '../../../platform/http/errors.ts';
import { registerRoute } from '../../../platform/http/route.ts';
import type { Call } from '../../../platform/http/route.ts';
import { tooBig } from './file-errors.ts';
import { normalizeChanged } from './paths.ts';
import { buildFile } from './render.ts';
import { readUpload } from './upload.ts';
import { changeVolume } from './volume.ts';

/** The two routes that accept three kinds of bodies, with their own parsers and errors. */
export function registerWriteRoutes(app: FastifyInstance, deps: ApiDeps): void {
  void app.register(async (scope) => {
    await scope.register(multipart);
    scope.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload));
    scope.setErrorHandler((error: FastifyError, request, reply) => {
      sendError(deps.log, describeBodyError(error), request, reply);
    });
    for (const route of [fileRoutes.writeFile, fileRoutes.uploadFile] as const) {
      registerRoute(scope, deps, route, async (call) => ({ status: 200, body: await writeFile(deps, call) }));
    }
  });
}

function describeBodyError(error: FastifyError): Error {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooBig('content');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return errors.validation(
        'header.content-type: must be application/json, application/octet-stream or multipart/form-data',
      );
    default:
      return error;
  }
}

type WriteCall = Pick<Call<typeof fileRoutes.writeFile>, 'params' | 'query' | 'request'> & { caller: Caller };

async function writeFile(deps: ApiDeps, { params, query, request, caller }: WriteCall): Promise<WorkspaceFile> {
  const upload = await readUpload(request, query);
  try {
    const path = normalizeChanged(upload.path);
    if (upload.path.endsWith('/')) throw errors.validation('path: must not be a folder');
    const { overwrite, createParents, sizeBytes } = upload;
    return await changeVolume(deps, { caller, params }, { create: true }, async (files) => {
      const entry = await files.write(path, upload.source, {
        overwrite,
        createParents,
        sizeBytes,
        maxBytes: MAX_FILE_BYTES,
        protect: RESERVED_FOLDERS,
      });
      return buildFile({ ...entry, path });
    });
  } finally {
    await upload.release();
  }
}
