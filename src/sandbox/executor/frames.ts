// Tests: test/sandbox/executor
import { isRecord, parseJson } from '../../platform/records.ts';
import { isErrorBody } from '../protocol/executor.ts';
import type { ExecutorFrame, ExecutorNotice } from '../protocol/executor.ts';

/** Parses one NDJSON line; undefined if it is not a frame. */
export function readExecutorFrame(line: string): ExecutorFrame | undefined {
  const value = parseJson(line);
  if (!isRecord(value)) return undefined;
  if (value['type'] === 'output' && typeof value['text'] === 'string') return { type: 'output', text: value['text'] };
  const { request, text } = value;
  if (value['type'] === 'request' && typeof request === 'number' && typeof text === 'string') {
    return { type: 'request', request, text };
  }
  if (value['type'] === 'result' && 'value' in value) return { type: 'result', value: value['value'] };
  const error = value['error'];
  return value['type'] === 'error' && isErrorBody(error) ? { type: 'error', error } : undefined;
}

/** Parses one line of the notices; undefined if it is not a notice. */
export function readExecutorNotice(line: string): ExecutorNotice | undefined {
  const value = parseJson(line);
  if (!isRecord(value)) return undefined;
  const { sequence, processId, text } = value;
  if (typeof sequence !== 'number' || typeof processId !== 'string' || typeof text !== 'string') return undefined;
  return { sequence, processId, text };
}
