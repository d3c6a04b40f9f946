import type { ServerResponse } from 'node:http';
import type { ExecutorErrorBody, ExecutorFrame } from '../../../src/sandbox/protocol/executor.ts';

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

export function sendError(response: ServerResponse, fault: ExecutorErrorBody): void {
  const status = fault.kind === 'internal' ? 500 : fault.code === 'ENOENT' ? 404 : fault.code === 'ETOOBIG' ? 413 : 400;
  sendJson(response, status, { error: fault });
}

/** Writes NDJSON frames. Output is dropped for a slow reader; the result contains all of it. */
export function openFrames(response: ServerResponse) {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.flushHeaders();
  return {
    output(text: string): void {
      if (!response.writableNeedDrain && !response.destroyed) {
        response.write(`${JSON.stringify({ type: 'output', text } satisfies ExecutorFrame)}\n`);
      }
    },
    /** Never dropped: there are few requests, and the script waits for each. */
    request(request: number, text: string): void {
      response.write(`${JSON.stringify({ type: 'request', request, text } satisfies ExecutorFrame)}\n`);
    },
    end(frame: ExecutorFrame): void {
      response.end(`${JSON.stringify(frame)}\n`);
    },
  };
}
