import type { Socket } from 'node:net';
import { TOO_LARGE } from '../contract/refused.ts';
import { chooseRequestId } from './request-id.ts';

const REASONS: Record<string, { status: string; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    message: TOO_LARGE,
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'The request took too long to arrive.' },
};
const MALFORMED = { status: '400 Bad Request', message: 'The request is not valid HTTP.' };

/** Answers malformed HTTP requests with a body in the service's shape. */
export function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const { status, message } = REASONS[error.code ?? ''] ?? MALFORMED;
  const body = JSON.stringify({ error: 'validation_error', message });
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${chooseRequestId(undefined)}`,
    'connection: close',
  ].join('\r\n');
  if (socket.writable) socket.write(`${head}\r\n\r\n${body}`);
  socket.destroySoon();
}
