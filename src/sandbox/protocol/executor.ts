// Tests: test/sandbox/port.test.ts, test/sandbox/executor
/**
 * What the control plane and an executor say to each other over HTTP, and nothing else: types and guards without a
 * library, because one side of it runs beside untrusted programs.
 *
 * `POST /v1/calls` runs one operation and answers NDJSON frames; `DELETE /v1/calls/{id}` cancels it. `GET` and `PUT
 * /v1/files?path=` carry raw bytes. `GET /v1/notices` is a long-lived NDJSON stream. `GET /healthz` is an `ExecutorHealth`.
 */

/** `modifiedMs` changes whenever the content does. `path` is relative to the workspace; `.` is the workspace itself. */
export type FileStat = {
  path: string;
  type: 'file' | 'directory' | 'other';
  sizeBytes: number;
  modifiedMs: number;
  mode: number;
};

/**
 * An entry with what its content tells. `sha256` and `text` (UTF-8 without NUL) are null for anything but a readable
 * file of at most 40 MiB; `head` is the base64 of its first bytes. `special` names what is neither file nor directory.
 */
export type FileEntry = FileStat & {
  createdMs: number;
  sha256: string | null;
  text: boolean | null;
  head: string | null;
  special: 'symlink' | 'fifo' | 'socket' | 'device' | null;
};

/** One page of a folder's entries, directories first, then by path in code unit order. */
export type FilePage = { entries: FileEntry[]; total: number };

export type FoundFile = { path: string; inName: boolean; excerpt: string | null };

export type ProcessInfo = {
  id: string;
  command: string;
  cwd: string;
  pid: number;
  startedAt: string;
  uptimeSeconds: number;
  status: 'running' | 'exited';
  exitCode: number | null;
  /** how it ended: `exit`, `signal`, `killed` */
  completionReason: string | null;
};

/** `exitCode` 124 with `timedOut`, 130 when aborted. Output is stdout and stderr in order, its middle cut out past the cap. */
export type RunResult = { output: string; exitCode: number; timedOut: boolean; cwd: string };

/** Ends as `RunResult` does. Each stream has its own cap; its middle is cut out past it. */
export type ScriptResult = { output: string; errors: string; exitCode: number; timedOut: boolean };

export type SearchInput = {
  pattern: string;
  path: string;
  glob?: string;
  mode: 'content' | 'files_only' | 'count' | 'names';
  context: number;
  limit: number;
  offset: number;
};

export type SearchResult = {
  /** of the whole tree, not only of this page, unless `limitReason` says the search was cut short */
  totalCount: number;
  /** with context lines among them, which `totalCount` leaves out */
  matches: { path: string; line: number; content: string }[];
  files: string[];
  counts: Record<string, number>;
  limitReason: string | null;
};

/** `usedBytes` is the volume's, by the executor's own count. */
export type WriteResult = {
  stat: FileStat;
  created: boolean;
  dirsCreated: string[];
  usedBytes: number;
  /** where it was asked for */
  entry?: FileEntry;
};
export type ProcessOutput = { info: ProcessInfo; output: string };

/** News of a background process. `sequence` grows by one within one executor's life. */
export type ExecutorNotice = { sequence: number; processId: string; text: string };

/** `usedBytes` is what the volume holds, at most some minutes old; absent before the first count. */
export type ExecutorHealth = { status: 'ok'; workspace: string; usedBytes?: number };

/** What callers on TCP show: for the executor of this name, until `exp`, in seconds since 1970. */
export type ExecutorToken = { aud: string; exp: number };

/** `shell` names a working directory and environment of its own, which begin as the session's; letters, digits, `_` */
type Command = { command: string; workdir?: string; shell?: string };

/** What each operation takes and gives. */
export type ExecutorOperations = {
  run: { input: Command & { timeoutMs: number; stdin?: string; stream?: boolean }; result: RunResult };
  /**
   * As `run`, but keeps nothing for the next command and ends whatever it started with it. `files`, by name, lie in a
   * folder of its own, `$CAPSTAN_SCRIPT`, beside the socket `rpc`: each line that comes there is a `request` frame, which
   * waits for its `answerScript`, at most 4 at a time and `maxRequests` in all. Aborted when nobody reads its frames.
   */
  runScript: {
    input: { command: string; files: Record<string, string>; timeoutMs: number; maxRequests: number };
    result: ScriptResult;
  };
  /** False when the request no longer waits. */
  answerScript: { input: { call: string; request: number; text: string }; result: boolean };
  stat: { input: { path: string }; result: FileStat | null };
  list: { input: { path: string }; result: FileStat[] };
  /** `protect` lists top-level names below which nothing is changed, however the path gets there (ERESERVED) */
  remove: { input: { path: string; recursive?: boolean; protect?: string[] }; result: null };
  /** What lies at `to` then, as `page` tells it; null when it is gone again. */
  move: { input: { from: string; to: string; overwrite?: boolean; protect?: string[] }; result: FileEntry | null };
  copy: {
    input: { from: string; to: string; overwrite?: boolean; protect?: string[]; maxFileBytes?: number };
    result: null;
  };
  makeDirectory: { input: { path: string; createParents?: boolean; protect?: string[] }; result: FileStat };
  describe: { input: { path: string }; result: FileEntry | null };
  page: { input: { path: string; recursive: boolean; limit: number; offset: number }; result: FilePage };
  find: { input: { query: string; path: string; limit: number }; result: FoundFile[] };
  usage: { input: Record<string, never>; result: { usedBytes: number } };
  search: { input: SearchInput; result: SearchResult };
  startProcess: {
    input: Command & { pty: boolean; notifyOnComplete: boolean; watchPatterns: string[] };
    result: ProcessInfo;
  };
  listProcesses: { input: Record<string, never>; result: ProcessInfo[] };
  processOutput: { input: { id: string }; result: ProcessOutput | null };
  waitProcess: { input: { id: string; timeoutMs: number }; result: ProcessInfo | null };
  killProcess: { input: { id: string }; result: ProcessInfo | null };
  writeProcess: { input: { id: string; data: string }; result: boolean };
  closeProcessInput: { input: { id: string }; result: boolean };
  /** What `restoreState` gives to the session's next executor; null when more than this would be lost with this one. */
  saveState: { input: Record<string, never>; result: string | null };
  /** Before the first command. False when it is not what `saveState` gave. */
  restoreState: { input: { state: string }; result: boolean };
};

export type ExecutorOperation = keyof ExecutorOperations;

export type ExecutorCall = {
  [O in ExecutorOperation]: { id: string; operation: O; input: ExecutorOperations[O]['input'] };
}[ExecutorOperation];

/** `code` is a POSIX name or `ESCAPE`, `ETOOBIG`, `ECHANGED`, `ERESERVED` for `file`; `input` is the caller's mistake. */
export type ExecutorErrorBody = { kind: 'file' | 'input' | 'internal'; code: string; message: string };

/** Any number of `output` (only `run` with `stream`) or `request` (only `runScript`), then one `result` or `error`. */
export type ExecutorFrame =
  | { type: 'output'; text: string }
  | { type: 'request'; request: number; text: string }
  | { type: 'result'; value: unknown }
  | { type: 'error'; error: ExecutorErrorBody };

/** Of what `saveState` gives, in characters. */
export const MAX_STATE_LENGTH = 32 * 1024;

export const MAX_OPEN_REQUESTS = 4;
/** Of a request's or an answer's line, in characters. */
export const MAX_REQUEST_LENGTH = 4 * 1024 * 1024;

/** Operations whose outcome is kept, so that a call sent twice has its effect once. */
export const KEPT_OPERATIONS: readonly ExecutorOperation[] = [
  'run',
  'runScript',
  'startProcess',
  'killProcess',
  'writeProcess',
  'closeProcessInput',
  'remove',
  'move',
  'copy',
];

/** Header of `GET /v1/files`: the `FileStat`, with `describe=true` the `FileEntry`, as URI-encoded JSON. */
export const STAT_HEADER = 'x-capstan-stat';

type FieldType = 'string' | 'number' | 'boolean' | 'strings' | 'texts' | 'mode';
/** A field name ending in `?` may be absent. */
type Fields = Record<string, FieldType>;

const COMMAND = { command: 'string', 'workdir?': 'string', 'shell?': 'string' } as const;

const FIELDS: Record<ExecutorOperation, Fields> = {
  run: { ...COMMAND, timeoutMs: 'number', 'stdin?': 'string', 'stream?': 'boolean' },
  runScript: { command: 'string', files: 'texts', timeoutMs: 'number', maxRequests: 'number' },
  answerScript: { call: 'string', request: 'number', text: 'string' },
  stat: { path: 'string' },
  list: { path: 'string' },
  remove: { path: 'string', 'recursive?': 'boolean', 'protect?': 'strings' },
  move: { from: 'string', to: 'string', 'overwrite?': 'boolean', 'protect?': 'strings' },
  copy: { from: 'string', to: 'string', 'overwrite?': 'boolean', 'protect?': 'strings', 'maxFileBytes?': 'number' },
  makeDirectory: { path: 'string', 'createParents?': 'boolean', 'protect?': 'strings' },
  describe: { path: 'string' },
  page: { path: 'string', recursive: 'boolean', limit: 'number', offset: 'number' },
  find: { query: 'string', path: 'string', limit: 'number' },
  usage: {},
  search: {
    pattern: 'string',
    path: 'string',
    'glob?': 'string',
    mode: 'mode',
    context: 'number',
    limit: 'number',
    offset: 'number',
  },
  startProcess: { ...COMMAND, pty: 'boolean', notifyOnComplete: 'boolean', watchPatterns: 'strings' },
  listProcesses: {},
  processOutput: { id: 'string' },
  waitProcess: { id: 'string', timeoutMs: 'number' },
  killProcess: { id: 'string' },
  writeProcess: { id: 'string', data: 'string' },
  closeProcessInput: { id: 'string' },
  saveState: {},
  restoreState: { state: 'string' },
};

const CHECKS: Record<FieldType, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
  boolean: (value) => typeof value === 'boolean',
  strings: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  texts: (value) =>
    isRecord(value) &&
    Object.entries(value).every(([name, text]) => /^\w[\w.]{0,99}$/.test(name) && typeof text === 'string'),
  mode: (value) => value === 'content' || value === 'files_only' || value === 'count' || value === 'names',
};

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The call, or a sentence that says what is wrong with it. */
export function readExecutorCall(value: unknown): ExecutorCall | string {
  if (!isRecord(value)) return 'the call must be an object';
  const { id, operation, input } = value;
  if (typeof id !== 'string' || id === '' || id.length > 200) return 'id must be a text of 1 to 200 characters';
  if (typeof operation !== 'string' || !Object.hasOwn(FIELDS, operation)) return 'operation is not known';
  if (!isRecord(input)) return 'input must be an object';
  const clean: Record<string, unknown> = {};
  for (const [key, type] of Object.entries(FIELDS[operation as ExecutorOperation])) {
    const name = key.replace(/\?$/, '');
    if (input[name] === undefined && name !== key) continue;
    if (!CHECKS[type](input[name])) return `input.${name} is missing or of the wrong type`;
    clean[name] = input[name];
  }
  return { id, operation, input: clean } as ExecutorCall;
}

/** The frame of one NDJSON line, or undefined when it is none. */
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

export function isErrorBody(value: unknown): value is ExecutorErrorBody {
  return (
    isRecord(value) &&
    ['file', 'input', 'internal'].includes(value['kind'] as string) &&
    typeof value['code'] === 'string' &&
    typeof value['message'] === 'string'
  );
}

export function readExecutorNotice(line: string): ExecutorNotice | undefined {
  const value = parseJson(line);
  if (!isRecord(value)) return undefined;
  const { sequence, processId, text } = value;
  if (typeof sequence !== 'number' || typeof processId !== 'string' || typeof text !== 'string') return undefined;
  return { sequence, processId, text };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
