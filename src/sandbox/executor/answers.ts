import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { MAX_REQUEST_LENGTH, MAX_STATE_LENGTH, STAT_HEADER, isErrorBody } from '../protocol/executor.ts';
import type { ExecutorErrorBody, ExecutorHealth, ExecutorOperation, ExecutorOperations } from '../protocol/executor.ts';
import type { FileEntry, FileStat, WriteResult } from '../protocol/executor.ts';
import { SandboxError, SandboxFileError } from '../sandbox.ts';
import { readBody } from './http.ts';

/*
 * Validates every response of an executor. A program in the sandbox may have compromised the executor, so its responses
 * are as untrusted as a caller's request: unknown fields are dropped, and a wrong shape is a `SandboxError`.
 */

/** The maximum size of a response that is not a file's content. */
const MAX_ANSWER_BYTES = 64 * 1024;

const amount = z.number().nonnegative();

const fileStat = z.object({
  path: z.string(),
  type: z.enum(['file', 'directory', 'other']),
  sizeBytes: amount,
  modifiedMs: z.number(),
  mode: amount,
});

const fileEntry = fileStat.extend({
  createdMs: z.number(),
  sha256: z.string().nullable(),
  text: z.boolean().nullable(),
  head: z.string().nullable(),
  special: z.enum(['symlink', 'fifo', 'socket', 'device']).nullable(),
});

const writeResult = z.object({
  stat: fileStat,
  created: z.boolean(),
  dirsCreated: z.array(z.string()),
  usedBytes: amount,
});
const describedWrite = writeResult.extend({ entry: fileEntry });

const processInfo = z.object({
  id: z.string(),
  command: z.string(),
  cwd: z.string(),
  pid: z.number(),
  startedAt: z.string(),
  uptimeSeconds: z.number(),
  status: z.enum(['running', 'exited']),
  exitCode: z.number().nullable(),
  completionReason: z.string().nullable(),
});

const searchResult = z.object({
  totalCount: amount,
  matches: z.array(z.object({ path: z.string(), line: z.number(), content: z.string() })),
  files: z.array(z.string()),
  counts: z.record(z.string(), z.number()),
  limitReason: z.string().nullable(),
});

const RESULTS: { [O in ExecutorOperation]: z.ZodType<ExecutorOperations[O]['result']> } = {
  run: z.object({ output: z.string(), exitCode: z.number(), timedOut: z.boolean(), cwd: z.string() }),
  runScript: z.object({ output: z.string(), errors: z.string(), exitCode: z.number(), timedOut: z.boolean() }),
  answerScript: z.boolean(),
  stat: fileStat.nullable(),
  list: z.array(fileStat),
  remove: z.null(),
  move: fileEntry.nullable(),
  copy: z.null(),
  makeDirectory: fileStat,
  describe: fileEntry.nullable(),
  page: z.object({
    entries: z.array(fileEntry),
    total: amount,
    // Executors of the release before do not tell it.
    last: z.object({ path: z.string(), folder: z.boolean() }).nullish(),
  }),
  find: z.array(z.object({ path: z.string(), inName: z.boolean(), excerpt: z.string().nullable() })),
  usage: z.object({ usedBytes: amount }),
  search: searchResult,
  startProcess: processInfo,
  listProcesses: z.array(processInfo),
  processOutput: z.object({ info: processInfo, output: z.string() }).nullable(),
  waitProcess: processInfo.nullable(),
  killProcess: processInfo.nullable(),
  writeProcess: z.boolean(),
  closeProcessInput: z.boolean(),
  hasCall: z.boolean(),
  saveState: z.string().max(MAX_STATE_LENGTH).nullable(),
  restoreState: z.boolean(),
};

const MIB = 2 ** 20;
/** JSON encodes a control character as six characters. */
const ESCAPED = 6;

/** The maximum line of each operation's response, in characters; for others 1 MiB. */
const MAX_LINE_LENGTHS: Partial<Record<ExecutorOperation, number>> = {
  runScript: ESCAPED * MAX_REQUEST_LENGTH + MIB,
  list: 32 * MIB,
  page: 16 * MIB,
  find: 16 * MIB,
  search: 16 * MIB,
  startProcess: 4 * MIB,
  listProcesses: 16 * MIB,
  processOutput: 4 * MIB,
  waitProcess: 4 * MIB,
  killProcess: 4 * MIB,
};

export function maxLineLength(operation: ExecutorOperation): number {
  return MAX_LINE_LENGTHS[operation] ?? MIB;
}

const health = z.object({ status: z.literal('ok'), workspace: z.string(), usedBytes: amount.exactOptional() });

const linkRead = z.object({ read: z.object({ stat: fileStat, whole: z.boolean() }) });
const linkDescribedRead = z.object({ read: z.object({ stat: fileEntry, whole: z.boolean() }) });
const linkWritten = z.object({ written: describedWrite });
const linkBegun = z.object({ begun: z.object({ write: z.number(), path: z.string() }) });

function check<T>(shape: z.ZodType<T>, value: unknown): T {
  const checked = shape.safeParse(value);
  if (checked.success) return checked.data;
  throw new SandboxError('the sandbox sent a malformed answer', { cause: checked.error });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SandboxError('the sandbox sent a malformed answer', { cause: error });
  }
}

async function parseBody(response: IncomingMessage): Promise<unknown> {
  return parse((await readBody(response, MAX_ANSWER_BYTES)).toString('utf8'));
}

function parseStatHeader({ headers }: IncomingMessage): unknown {
  try {
    return JSON.parse(decodeURIComponent(String(headers[STAT_HEADER])));
  } catch (error) {
    throw new SandboxError('the sandbox sent a malformed answer', { cause: error });
  }
}

/** The value of a `result` frame. */
export function readResult<O extends ExecutorOperation>(operation: O, value: unknown): ExecutorOperations[O]['result'] {
  return check(RESULTS[operation], value);
}

export async function readHealth(response: IncomingMessage): Promise<ExecutorHealth> {
  return check(health, await parseBody(response));
}

/** Reads the response of `GET /v1/files`. */
export function readStatHeader(response: IncomingMessage): FileStat {
  return check(fileStat, parseStatHeader(response));
}

/** Reads the response of `GET /v1/files` with `describe=true`. */
export function readEntryHeader(response: IncomingMessage): FileEntry {
  return check(fileEntry, parseStatHeader(response));
}

export async function readWriteResult(response: IncomingMessage): Promise<WriteResult> {
  return check(writeResult, await parseBody(response));
}

/** Reads the response of `PUT /v1/files` with `describe=true`. */
export async function readDescribedWrite(response: IncomingMessage): Promise<{ entry: FileEntry; usedBytes: number }> {
  return check(describedWrite, await parseBody(response));
}

export function readLinkRead(head: unknown): { stat: FileStat; whole: boolean } {
  return check(linkRead, head).read;
}

export function readLinkDescribedRead(head: unknown): { stat: FileEntry; whole: boolean } {
  return check(linkDescribedRead, head).read;
}

export function readLinkWritten(head: unknown): { entry: FileEntry; usedBytes: number } {
  return check(linkWritten, head).written;
}

export function readLinkBegun(head: unknown): { write: number; path: string } {
  return check(linkBegun, head).begun;
}

/** The error of a response whose status is not 200. */
export async function readError(response: IncomingMessage): Promise<Error> {
  const text = (await readBody(response, MAX_ANSWER_BYTES)).toString('utf8');
  try {
    const { error } = JSON.parse(text) as { error: unknown };
    if (isErrorBody(error)) return toSandboxError(error);
  } catch {
    // not an error of the protocol: reported by its status below
  }
  return new SandboxError(`the sandbox answered with status ${response.statusCode}`);
}

/** An `input` error is reported as a file error: the model can correct its call, and the sandbox works. */
export function toSandboxError({ kind, code, message }: ExecutorErrorBody): Error {
  return kind === 'internal' ? new SandboxError(message) : new SandboxFileError(code, message);
}
