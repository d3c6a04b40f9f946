// Tests: test/sandbox/port.test.ts
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { STAT_HEADER, readExecutorCall } from '../../../src/sandbox/protocol/executor.ts';
import type { ExecutorHealth } from '../../../src/sandbox/protocol/executor.ts';
import { ExecutorError, describeError } from '../executor-error.ts';
import { openForReading } from '../files/read.ts';
import { writeFile } from '../files/write.ts';
import type { Notices } from '../processes/notices.ts';
import { readJsonBody } from '../receive/body.ts';
import { runOperation } from '../receive/operations.ts';
import type { Parts } from '../receive/operations.ts';
import { openFrames, sendJson } from './frames.ts';

/** Interval of heartbeats on a quiet stream, which detect dead connections. */
const HEARTBEAT_MS = 15_000;

export type Surface = Parts & { notices: Notices };
type Exchange = { surface: Surface; url: URL; request: IncomingMessage; response: ServerResponse };

/** Throws an `ExecutorError`, which the server sends as an error response. */
export async function answerRequest(
  surface: Surface,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://executor');
  const exchange: Exchange = { surface, url, request, response };
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /healthz':
      return sendJson(response, 200, describeHealth(surface));
    case 'POST /v1/calls':
      return answerCall(exchange);
    case 'GET /v1/files':
      return answerRead(exchange);
    case 'PUT /v1/files':
      return answerWrite(exchange);
    case 'GET /v1/notices':
      return answerNotices(exchange);
    default:
  }
  if (request.method === 'DELETE' && url.pathname.startsWith('/v1/calls/')) {
    const found = surface.calls.cancel(decodeURIComponent(url.pathname.slice('/v1/calls/'.length)));
    return sendJson(response, found ? 202 : 404, { cancelled: found });
  }
  return sendJson(response, 404, { error: { kind: 'input', code: 'ENOENT', message: 'no such route' } });
}

function describeHealth({ settings, quota }: Surface): ExecutorHealth {
  const usedBytes = quota.recent();
  return { status: 'ok', workspace: settings.workspace, ...(usedBytes === undefined ? {} : { usedBytes }) };
}

async function answerCall({ surface, request, response }: Exchange): Promise<void> {
  const call = readExecutorCall(await readJsonBody(request));
  if (typeof call === 'string') throw new ExecutorError('input', 'EINVAL', call);
  const frames = openFrames(response);
  const outcome = surface.calls.run(call, async (signal) => {
    try {
      return { type: 'result', value: await runOperation(surface, call, signal, frames) };
    } catch (error) {
      const { path, from } = call.input as { path?: string; from?: string };
      return { type: 'error', error: describeError(error, path ?? from) };
    }
  });
  // a script needs a reader that answers its requests and receives its result
  if (call.operation === 'runScript') {
    if (response.destroyed) surface.calls.cancel(call.id);
    else response.once('close', () => surface.calls.cancel(call.id));
  }
  frames.end(await outcome);
}

function readNumber(url: URL, name: string): number | undefined {
  const text = url.searchParams.get(name);
  if (text === null) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0)
    throw new ExecutorError('input', 'EINVAL', `${name} must be a number of at least 0`);
  return value;
}

function readPath(url: URL): string {
  const path = url.searchParams.get('path');
  if (path === null || path === '') throw new ExecutorError('input', 'EINVAL', 'path is required');
  return path;
}

async function answerRead({ surface, url, response }: Exchange): Promise<void> {
  const { stat, length, body } = await openForReading(
    surface.settings.workspace,
    {
      path: readPath(url),
      offset: readNumber(url, 'offset') ?? 0,
      length: readNumber(url, 'length') ?? Infinity,
      maxFileBytes: readNumber(url, 'maxFileBytes') ?? Infinity,
      describe: url.searchParams.get('describe') === 'true',
    },
    surface.digests,
  );
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': length,
    [STAT_HEADER]: encodeURIComponent(JSON.stringify(stat)),
  });
  if (body instanceof Uint8Array) response.end(body);
  else await pipeline(body, response);
}

async function answerWrite({ surface, url, request, response }: Exchange): Promise<void> {
  const ifModifiedMs = readNumber(url, 'ifModifiedMs');
  const mode = readNumber(url, 'mode');
  const { quota, digests } = surface;
  const parts = { root: surface.settings.workspace, quota, digests };
  // a rejection is sent on this connection, so the connection must stay open after reading
  const source = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  const result = await writeFile(parts, readPath(url), source, {
    ...(ifModifiedMs === undefined ? {} : { ifModifiedMs }),
    ...(mode === undefined ? {} : { mode: mode & 0o777 }),
    maxBytes: readNumber(url, 'maxBytes') ?? Infinity,
    overwrite: url.searchParams.get('overwrite') !== 'false',
    createParents: url.searchParams.get('createParents') !== 'false',
    protect: url.searchParams.getAll('protect'),
    sizeBytes: readNumber(url, 'sizeBytes'),
    describe: url.searchParams.get('describe') === 'true',
  }).finally(() => setImmediate(() => request.resume()));
  sendJson(response, 200, result);
}

function answerNotices({ surface, response }: Exchange): void {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.flushHeaders();
  const stop = surface.notices.subscribe((notice) => response.write(`${JSON.stringify(notice)}\n`));
  const heartbeat = setInterval(() => response.write('\n'), HEARTBEAT_MS);
  response.on('close', () => {
    stop();
    clearInterval(heartbeat);
  });
}
