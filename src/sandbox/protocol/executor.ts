// Tests: test/sandbox/port.test.ts, test/sandbox/executor
/**
 * The HTTP protocol between the control plane and an executor: types and guards only, without a library, because the
 * executor runs beside untrusted programs.
 *
 * `POST /v1/calls` runs one operation and returns NDJSON frames; `DELETE /v1/calls/{id}` cancels it. `GET` and `PUT
 * /v1/files?path=` carry raw bytes. `GET /v1/notices` is a long-lived NDJSON stream. `GET /healthz` is an
 * `ExecutorHealth`.
 */

/** `modifiedMs` changes with the content. `path` is relative to the workspace; `.` is the workspace itself. */
export type FileStat = {
  path: string;
  type: 'file' | 'directory' | 'other';
  sizeBytes: number;
  modifiedMs: number;
  mode: number;
};

/**
 * An entry with facts about its content. `sha256` and `text` (UTF-8 without NUL) are null except for readable files of
 * at most 40 MiB; `head` is the base64 of the first bytes. `special` is set if it is neither a file nor a directory.
 */
export type FileEntry = FileStat & {
  createdMs: number;
  sha256: string | null;
  text: boolean | null;
  head: string | null;
  special: 'symlink' | 'fifo' | 'socket' | 'device' | null;
};

/** One page of a folder's entries, directories first, then by path in code unit order. */
/** A place in a listing, which sorts folders first, then by path. */
export type FilePlace = { path: string; folder: boolean };

/** `last`: the place of the last entry if more follow. `total`: entries of all pages. */
export type FilePage = { entries: FileEntry[]; total: number; last?: FilePlace | null | undefined };

/** With `after`, the page begins behind that place, which may be gone; else at `offset`. */
export type FilePageRequest = { recursive: boolean; limit: number; offset: number; after?: FilePlace | undefined };

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

/**
 * `exitCode` is 124 with `timedOut`, 130 if aborted. `output` is stdout and stderr in order; beyond the cap its middle
 * is removed.
 */
export type RunResult = { output: string; exitCode: number; timedOut: boolean; cwd: string };

/** Like `RunResult`, with a cap per stream, beyond which its middle is removed. */
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
  /** matches in the whole tree, not only on this page, unless `limitReason` says that the search stopped early */
  totalCount: number;
  /** includes context lines, which `totalCount` does not count */
  matches: { path: string; line: number; content: string }[];
  files: string[];
  counts: Record<string, number>;
  limitReason: string | null;
};

/** `usedBytes` is the volume's usage as the executor counts it. */
export type WriteResult = {
  stat: FileStat;
  created: boolean;
  dirsCreated: string[];
  usedBytes: number;
  /** only if requested */
  entry?: FileEntry;
};
export type ProcessOutput = { info: ProcessInfo; output: string };

/** A notice about a background process. `sequence` increases by one during the life of an executor. */
export type ExecutorNotice = { sequence: number; processId: string; text: string };

/** `usedBytes` is the volume's usage, a few minutes old at most; absent before the first count. */
export type ExecutorHealth = { status: 'ok'; workspace: string; usedBytes?: number };

/** The token of callers on TCP: valid for the executor of this name until `exp`, in seconds since 1970. */
export type ExecutorToken = { aud: string; exp: number };

/** `shell` names a separate working directory and environment, which start as the session's; letters, digits, `_` */
type Command = { command: string; workdir?: string; shell?: string };

/** The input and the result of each operation. */
export type ExecutorOperations = {
  run: { input: Command & { timeoutMs: number; stdin?: string; stream?: boolean }; result: RunResult };
  /**
   * Like `run`, but keeps no state for the next command and kills every process that it started. `files` are written by
   * name to its own folder `$CAPSTAN_SCRIPT`, beside the socket `rpc`. Each line on that socket becomes a `request`
   * frame and waits for its `answerScript`: at most 4 at a time, `maxRequests` in all. Aborted if nobody reads its
   * frames.
   */
  runScript: {
    input: { command: string; files: Record<string, string>; timeoutMs: number; maxRequests: number };
    result: ScriptResult;
  };
  /** False if the request is no longer waiting. */
  answerScript: { input: { call: string; request: number; text: string }; result: boolean };
  stat: { input: { path: string }; result: FileStat | null };
  list: { input: { path: string }; result: FileStat[] };
  /** `protect` lists top-level names below which changes are rejected (ERESERVED), also through links */
  remove: { input: { path: string; recursive?: boolean; protect?: string[] }; result: null };
  /** The entry at `to` afterwards, as in `page`; null if it has already been removed. */
  move: { input: { from: string; to: string; overwrite?: boolean; protect?: string[] }; result: FileEntry | null };
  copy: {
    input: { from: string; to: string; overwrite?: boolean; protect?: string[]; maxFileBytes?: number };
    result: null;
  };
  makeDirectory: { input: { path: string; createParents?: boolean; protect?: string[] }; result: FileStat };
  describe: { input: { path: string }; result: FileEntry | null };
  page: { input: FilePageRequest & { path: string }; result: FilePage };
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
  hasCall: { input: { call: string }; result: boolean };
  /** What `restoreState` gives to the session's next executor; null when more than this would be lost with this one. */
  saveState: { input: Record<string, never>; result: string | null };
  /** Before the first command. False when it is not what `saveState` gave. */
  restoreState: { input: { state: string }; result: boolean };
};

export type ExecutorOperation = keyof ExecutorOperations;

export type ExecutorCall = {
  [O in ExecutorOperation]: { id: string; operation: O; input: ExecutorOperations[O]['input'] };
}[ExecutorOperation];

/**
 * For `file`, `code` is a POSIX name or `ESCAPE`, `ETOOBIG`, `ECHANGED`, `ERESERVED`; `input` is a mistake of the
 * caller.
 */
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
/** The maximum line of a request or an answer, in characters. */
export const MAX_REQUEST_LENGTH = 4 * 1024 * 1024;
/** Operations whose outcome is stored, so that a repeated call takes effect once. */
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

type FieldType = 'string' | 'number' | 'boolean' | 'strings' | 'texts' | 'mode' | 'place';
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
  page: { path: 'string', recursive: 'boolean', limit: 'number', offset: 'number', 'after?': 'place' },
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
  hasCall: { call: 'string' },
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
  place: (value) => isRecord(value) && typeof value['path'] === 'string' && typeof value['folder'] === 'boolean',
};

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the call, or a sentence that explains what is wrong with it. */
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

export function isErrorBody(value: unknown): value is ExecutorErrorBody {
  return (
    isRecord(value) &&
    ['file', 'input', 'internal'].includes(value['kind'] as string) &&
    typeof value['code'] === 'string' &&
    typeof value['message'] === 'string'
  );
}
