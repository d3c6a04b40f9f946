import type { FastifyInstance } from 'fastify';
import { registerFormParser } from '../body.ts';
import type { GatewayDeps } from '../deps.ts';
import { MESSAGES } from '../dialects/messages/dialect.ts';
import type { AddRoutes, Handler } from '../add-routes.ts';
import { createBatch, getBatch, listBatches } from './batches.ts';
import { readOrganization } from './context.ts';
import type { BatchDeps } from './context.ts';
import { createFile, deleteFile, getFile, getFileContent, listFiles } from './files.ts';
import {
  createMessageBatch,
  deleteMessageBatch,
  getMessageBatch,
  getMessageResults,
  listMessageBatches,
} from './message-batches.ts';
import { ScriptStore } from './script-store.ts';

/** Batch files are larger than other requests. */
const FILE_LIMIT = 64 * 1024 * 1024;
const BATCH_LIMIT = 32 * 1024 * 1024;

/** Adds the routes of files and batches. `addTo` adds routes to a scope of the server. */
export function registerBatches(
  app: FastifyInstance,
  deps: GatewayDeps,
  addTo: (scope: FastifyInstance) => AddRoutes,
): void {
  const context: BatchDeps = { app, deps, scripts: new ScriptStore() };
  void app.register(async (scope) => {
    registerFormParser(scope);
    const upload: Handler = async (request, reply) => {
      const release = deps.admission.acquire(request.bodyBytes, readOrganization(request));
      return createFile(context, request, reply).finally(release);
    };
    const create = { POST: upload, GET: listFiles.bind(undefined, context) };
    addTo(scope)('/v1/files', create, { bodyLimit: FILE_LIMIT });
  });
  const add = addTo(app);
  add('/v1/files/:id', { GET: getFile.bind(undefined, context), DELETE: deleteFile.bind(undefined, context) });
  add('/v1/files/:id/content', { GET: getFileContent.bind(undefined, context) });
  add('/v1/batches', { POST: createBatch.bind(undefined, context), GET: listBatches.bind(undefined, context) });
  add('/v1/batches/:id', { GET: (request, reply) => getBatch(context, request, reply) });
  add('/v1/batches/:id/cancel', { POST: (request, reply) => getBatch(context, request, reply, true) });
  const options = { dialect: MESSAGES, bodyLimit: BATCH_LIMIT };
  const root = {
    POST: createMessageBatch.bind(undefined, context),
    GET: listMessageBatches.bind(undefined, context),
  };
  add('/v1/messages/batches', root, options);
  const one = {
    GET: (request, reply) => getMessageBatch(context, request, reply),
    DELETE: deleteMessageBatch.bind(undefined, context),
  } satisfies Parameters<AddRoutes>[1];
  add('/v1/messages/batches/:id', one, options);
  const cancel = {
    POST: (request, reply) => getMessageBatch(context, request, reply, '/cancel'),
  } satisfies Parameters<AddRoutes>[1];
  add('/v1/messages/batches/:id/cancel', cancel, options);
  add('/v1/messages/batches/:id/results', { GET: getMessageResults.bind(undefined, context) }, options);
}
