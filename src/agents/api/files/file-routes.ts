import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { MAX_FILE_BYTES, RESERVED_FOLDERS } from '../../contract/files.ts';
import type { FileListQuery, FileMatch, WorkspaceFile } from '../../contract/files.ts';
import { buildAnyList } from '../../../platform/contract/common.ts';
import type { FilePage, FilePageRequest, FoundFile } from '../../../sandbox/protocol/executor.ts';
import { fileRoutes } from '../../contract/routes/files.ts';
import { errors } from '../../../platform/errors.ts';
import { readPageCursor, writeCursor } from '../../../platform/store/pages.ts';
import type { Keyset } from '../../../platform/store/pages.ts';
import type { ApiDeps } from '../deps.ts';
import { registerRoute } from '../../../platform/http/route.ts';
import { sendBytes, sendContent, wantsBytes } from './download.ts';
import { getFile } from './read.ts';
import { baseName, normalizeChanged, normalizePath } from './paths.ts';
import { buildFile } from './render.ts';
import { changeVolume, describeVolume, getVolumeKey, readVolume } from './volume.ts';
import { registerWriteRoutes } from './write-routes.ts';

const protect = RESERVED_FOLDERS;

function buildMatch({ path, inName, excerpt }: FoundFile): FileMatch {
  const name = baseName(path);
  const match: FileMatch['match'] = [
    ...(inName ? ['name' as const] : []),
    ...(excerpt === null ? [] : ['content' as const]),
  ];
  return { object: 'file_match', path, name, match, excerpt: excerpt ?? name };
}

const PLACE: Pick<Keyset, 'name' | 'keys'> = {
  name: 'files',
  keys: [
    { sql: 'type', type: 'text' },
    { sql: 'path', type: 'text' },
  ],
};

function buildPageRequest(query: z.infer<typeof FileListQuery>): FilePageRequest {
  const { recursive, limit, offset = 0 } = query;
  const [type, path] = readPageCursor(PLACE, query);
  const after = path === undefined ? {} : { after: { path, folder: type === 'directory' } };
  return { recursive, limit, offset, ...after };
}

function buildFileList(data: WorkspaceFile[], query: z.infer<typeof FileListQuery>, page?: FilePage) {
  const { last = null, total = 0 } = page ?? {};
  const nextCursor =
    last === null ? null : writeCursor(PLACE, [last.folder ? 'directory' : 'file', last.path.toWellFormed()]);
  const list = buildAnyList(data, query, { total: query.cursor === undefined ? total : null, nextCursor });
  // An executor of the release before does not tell its last place.
  const hasMore = nextCursor !== null || (query.cursor === undefined && (query.offset ?? 0) + query.limit < total);
  return { ...list, pagination: { ...list.pagination, hasMore } };
}

export function registerFileRoutes(app: FastifyInstance, deps: ApiDeps): void {
  registerRoute(app, deps, fileRoutes.listFiles, async ({ params, query, caller }) => {
    const path = normalizePath(query.path);
    const request = buildPageRequest(query);
    const page = await readVolume(deps, { caller, params }, 'list', (files) => files.list(path, request));
    const data = await Promise.all((page?.entries ?? []).map(buildFile));
    return { status: 200, body: { path, ...buildFileList(data, query, page) } };
  });

  registerRoute(app, deps, fileRoutes.statFile, async ({ params, query, caller }) => {
    const path = normalizePath(query.path);
    const file = await readVolume(deps, { caller, params }, 'read', (files) => getFile(files, path));
    if (file === undefined) throw errors.notFound('file or folder');
    return { status: 200, body: file };
  });

  registerRoute(app, deps, fileRoutes.readFile, async ({ params, query, caller, request }) => {
    const path = normalizePath(query.path);
    const { range } = request.headers;
    const answer = await readVolume(deps, { caller, params }, 'read', (files) =>
      wantsBytes(request) ? sendBytes(files, path, range) : sendContent(files, path),
    );
    if (answer === undefined) throw errors.notFound('file or folder');
    return answer;
  });

  registerRoute(app, deps, fileRoutes.searchFiles, async ({ params, query, caller, request }) => {
    const path = normalizePath(query.path);
    const gone = new AbortController();
    request.raw.once('close', () => request.raw.destroyed && gone.abort());
    const found = await readVolume(deps, { caller, params }, 'list', (files) =>
      files.find(path, query.query, query.maxResults, gone.signal),
    );
    return { status: 200, body: { object: 'list', query: query.query, data: (found ?? []).map(buildMatch) } };
  });

  registerRoute(app, deps, fileRoutes.makeDirectory, async ({ params, body, caller }) => {
    const path = normalizeChanged(body.path);
    const { createParents } = body;
    const folder = await changeVolume(deps, { caller, params }, { create: true }, async (files) => {
      await files.makeDirectory(path, { createParents, protect });
      return getFile(files, path);
    });
    return { status: 200, body: folder };
  });

  registerRoute(app, deps, fileRoutes.moveFile, async ({ params, body, caller }) => {
    const [from, to] = [normalizeChanged(body.from, 'from'), normalizeChanged(body.to, 'to')];
    const moved = await changeVolume(deps, { caller, params }, { create: false, field: 'to' }, async (files) => {
      const entry = await files.move(from, to, { overwrite: body.overwrite, protect });
      if (entry === undefined) throw errors.notFound('file or folder');
      return buildFile({ ...entry, path: to });
    });
    return { status: 200, body: moved };
  });

  registerRoute(app, deps, fileRoutes.copyFile, async ({ params, body, caller }) => {
    const [from, to] = [normalizePath(body.from), normalizeChanged(body.to, 'to')];
    if (from === '') throw errors.validation('from: must not be the workspace itself');
    const copied = await changeVolume(deps, { caller, params }, { create: false, field: 'to' }, async (files) => {
      await files.copy(from, to, { overwrite: body.overwrite, maxFileBytes: MAX_FILE_BYTES, protect });
      return getFile(files, to);
    });
    return { status: 200, body: copied };
  });

  registerRoute(app, deps, fileRoutes.deleteFile, async ({ params, query, caller }) => {
    const path = normalizeChanged(query.path);
    await changeVolume(deps, { caller, params }, { create: false }, (files) =>
      files.remove(path, { recursive: query.recursive, protect }),
    );
    return { status: 200, body: { object: 'file.deleted', path, deleted: true } };
  });

  registerRoute(app, deps, fileRoutes.getVolume, async ({ params, caller }) => ({
    status: 200,
    body: await describeVolume(deps, await getVolumeKey(deps, caller, params)),
  }));

  registerWriteRoutes(app, deps);
}
