import type { Readable } from 'node:stream';
import { CapstanError } from '../platform/errors.ts';
import type { CauseOptions } from '../platform/errors.ts';
import type {
  FileEntry,
  FilePage,
  FilePageRequest,
  FileStat,
  FoundFile,
  ProcessInfo,
  ProcessOutput,
  RunResult,
  ScriptResult,
  SearchInput,
  SearchResult,
  WriteResult,
} from './protocol/executor.ts';

export type {
  FileEntry,
  FilePage,
  FileStat,
  FoundFile,
  ProcessInfo,
  RunResult,
  ScriptResult,
  SearchResult,
} from './protocol/executor.ts';
export type SearchRequest = SearchInput;

/** Identifies a volume: the files of one subject of one agent. */
export type VolumeKey = { organizationId: string; agentId: string; subjectId: string };

/** One session on its volume. */
export type SandboxTarget = VolumeKey & { sessionId: string };

export type RunRequest = {
  /** a repeated id returns the first run's outcome */
  callId: string;
  /** run by `bash -c`; working directory and exported environment persist between calls of a session */
  command: string;
  /** relative to the workspace; absent: where the last call ended */
  workdir?: string;
  /**
   * name of a separate working directory and environment: letters, digits, `_`; starts as the session's; absent: the
   * session's
   */
  shell?: string;
  timeoutMs: number;
  /** stdin of the command; absent: empty */
  stdin?: string;
  /** Called with pieces of the output while the command runs, at most five a second; the result has all of it. */
  onOutput?: (text: string) => void;
};

export type ScriptRequest = {
  callId: string;
  /** run by `bash -c` with the session's working directory and environment, which it does not change */
  command: string;
  /** written to the folder `$CAPSTAN_SCRIPT` while the script runs, beside the socket `rpc` */
  files: Record<string, string>;
  timeoutMs: number;
  maxRequests: number;
  /**
   * Answers a line received on the socket, at most 4 at a time. `signal` is aborted when the script has ended. An error
   * that it throws ends the script and is rethrown by `runScript`.
   */
  answer: (line: string, signal: AbortSignal) => Promise<string>;
};

/** A notice about a background process that the session requested. */
export type SandboxNotice = {
  sessionId: string;
  processId: string;
  text: string;
  /**
   * Whether this server started the process with a request for notices. Pods outlive server processes: in a pod it is
   * undefined if another server process may have started it.
   */
  isExpected: boolean | undefined;
};

/** The sandbox itself failed, not the command: it died, is unreachable or could not start. */
export class SandboxError extends CapstanError<'sandbox_failed'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('sandbox_failed', message, { ...options, retryable: true });
  }
}

/** No connection was made, or the sandbox had ended before: it has not received the call. */
export class SandboxUnreachedError extends SandboxError {}

/**
 * The reason of an abort that leaves running calls to the process that takes them over by their ids. Calls aborted for
 * any other reason are cancelled.
 */
export class HandoverError<Code extends string> extends CapstanError<Code> {}

/** The cluster refuses to start a sandbox; nothing has run. */
export class SandboxRefusedError extends SandboxError {}

/** As many sandboxes run as the quota, the nodes or the machine allow; nothing has run. */
export class SandboxCapacityError extends SandboxRefusedError {
  /** when another attempt may find room */
  readonly retryAfterSeconds = 10;
}

/** The sandbox did not respond in time. A sandbox on this machine is then stopped, and the next call starts another. */
export class UnresponsiveError extends SandboxError {}

/**
 * A path outside the workspace, a missing file etc.; `code` is a POSIX name or `ESCAPE`, `ETOOBIG`, `ECHANGED`,
 * `ERESERVED`.
 */
export class SandboxFileError extends CapstanError {}

/**
 * A session's view of its running sandbox. Paths are relative to the workspace, or absolute below it. After the sandbox
 * died or was stopped as idle, every method throws `SandboxError`: acquire again, preferably for each call.
 */
export type SandboxSession = {
  /** the volume's root inside the sandbox */
  workspace: string;
  run(request: RunRequest, signal: AbortSignal): Promise<RunResult>;
  /**
   * Whether this sandbox has received the call of `run` or `startProcess` with this id: sent again, it returns the first
   * outcome. False for a sandbox that replaced a dead one, and 30 minutes after the call has ended.
   */
  hasCall(callId: string): Promise<boolean>;
  /** Runs a program that may send requests while it runs. Every process that it started ends with it. */
  runScript(request: ScriptRequest, signal: AbortSignal): Promise<ScriptResult>;
  stat(path: string): Promise<FileStat | undefined>;
  /** At most `maxBytes` from `offset`. Throws `SandboxFileError` (ENOENT, EISDIR, ESCAPE…). */
  readFile(path: string, range?: { offset: number; maxBytes: number }): Promise<{ stat: FileStat; bytes: Uint8Array }>;
  /** The whole file as a stream, for files too large for memory; finish or return the iterator to release it. */
  openFile(path: string): Promise<{ stat: FileStat; body: AsyncIterable<Uint8Array> }>;
  /**
   * Writes a temporary file and renames it; creates parents. Throws ECHANGED if the file no longer has `ifModifiedMs`,
   * EEXIST with `overwrite: false`, ETOOBIG beyond `maxBytes`.
   */
  writeFile(
    path: string,
    bytes: Uint8Array | AsyncIterable<Uint8Array>,
    options?: { ifModifiedMs?: number; mode?: number; maxBytes?: number; overwrite?: boolean; createParents?: boolean },
  ): Promise<WriteResult>;
  /** Throws ENOENT, or ENOTEMPTY for a non-empty directory without `recursive`. */
  removeFile(path: string, options?: { recursive?: boolean }): Promise<void>;
  /** Files and directories; parents created. Throws ENOENT, EEXIST (unless `overwrite`), EINVAL (into itself). */
  moveFile(from: string, to: string, options?: { overwrite?: boolean }): Promise<void>;
  copyFile(from: string, to: string, options?: { overwrite?: boolean }): Promise<void>;
  /** Creates parents; returns an existing directory unchanged. Throws EEXIST if it is a file. */
  makeDirectory(path: string): Promise<FileStat>;
  listDirectory(path: string): Promise<FileStat[]>;
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchResult>;
  startProcess(request: {
    callId: string;
    command: string;
    workdir?: string;
    shell?: string;
    pty: boolean;
    notifyOnComplete: boolean;
    watchPatterns: string[];
  }): Promise<ProcessInfo>;
  listProcesses(): Promise<ProcessInfo[]>;
  /** The rolling buffer (200,000 characters) of a process, or undefined for an unknown id. */
  processOutput(id: string): Promise<ProcessOutput | undefined>;
  waitProcess(id: string, timeoutMs: number, signal: AbortSignal): Promise<ProcessInfo | undefined>;
  killProcess(id: string): Promise<ProcessInfo | undefined>;
  writeProcess(id: string, data: string): Promise<boolean>;
  closeProcessInput(id: string): Promise<boolean>;
};

/** Top-level names of the volume below which changes are rejected (ERESERVED), also through links. */
type Protect = { protect: readonly string[] };

/**
 * A volume's files without a session. Paths are literal and relative to the workspace; `''` is its root. Throws
 * `SandboxFileError`, and `SandboxError` if the volume is unreachable: open it again.
 */
export type VolumeFiles = {
  /** Follows links inside the workspace; undefined if nothing exists at the path. */
  stat(path: string): Promise<FileStat | undefined>;
  /** Like `stat`, with facts about the content. */
  describe(path: string): Promise<FileEntry | undefined>;
  /** Directories first, then by path. Throws ENOENT, ENOTDIR. */
  list(path: string, page: FilePageRequest): Promise<FilePage>;
  /**
   * Reads `length` bytes: small content as one buffer, larger content as a stream, which must be destroyed if it is not
   * read to its end. Throws ENOENT, EISDIR, EINVAL, ETOOBIG.
   */
  open(
    path: string,
    options: { maxFileBytes: number; offset?: number; length?: number },
  ): Promise<{ length: number; body: Readable | Uint8Array }>;
  /** Like `open`, for the whole file, with facts about the content. */
  openDescribed(
    path: string,
    options: { maxFileBytes: number },
  ): Promise<{ entry: FileEntry; body: Readable | Uint8Array }>;
  /**
   * Publishes the file atomically. Without `overwrite` exactly one of several concurrent writers succeeds and the
   * others get EEXIST. Returns the written entry.
   */
  write(
    path: string,
    source: AsyncIterable<Uint8Array>,
    options: Protect & { maxBytes: number; overwrite: boolean; createParents: boolean; sizeBytes?: number },
  ): Promise<FileEntry>;
  makeDirectory(path: string, options: Protect & { createParents: boolean }): Promise<void>;
  /**
   * Moves a link itself, not its target. Returns the entry at `to`, also if it is a broken link; undefined if it was
   * removed.
   */
  move(from: string, to: string, options: Protect & { overwrite: boolean }): Promise<FileEntry | undefined>;
  copy(from: string, to: string, options: Protect & { overwrite: boolean; maxFileBytes: number }): Promise<void>;
  remove(path: string, options: Protect & { recursive: boolean }): Promise<void>;
  /** The query is literal and case-sensitive. */
  find(path: string, query: string, limit: number, signal: AbortSignal): Promise<FoundFile[]>;
};

export type VolumeInfo = {
  status: 'warming' | 'ready' | 'unavailable';
  sizeBytes: number;
  usedBytes: number;
  createdAt: Date;
  updatedAt: Date;
};

/** The sandbox of one session, while it has one. */
export type SandboxInfo = Omit<SandboxTarget, 'organizationId'> & {
  phase: 'starting' | 'running' | 'stopping' | 'failed';
  /** why it does not run, as the cluster says it */
  reason: string | undefined;
  node: string | undefined;
  pod: string | undefined;
  startedAt: Date | undefined;
  /** of the subject's files; undefined: not counted yet */
  volume: Pick<VolumeInfo, 'usedBytes' | 'sizeBytes'> | undefined;
};

/**
 * The port for running tools. `acquire` is idempotent: a session gets the same sandbox again, and a new one on the same
 * volume after its sandbox died.
 */
export type Sandboxes = {
  /** A hint that a session exists. Starts nothing; on Kubernetes the session is listed from now on. */
  announce(target: SandboxTarget): Promise<void>;
  /**
   * A hint that a tool of the session will be called soon. Requests a start where sandboxes start slowly, and resolves
   * once it is requested.
   */
  prepare(target: SandboxTarget): Promise<void>;
  acquire(target: SandboxTarget, signal: AbortSignal): Promise<SandboxSession>;
  /**
   * A hint to prepare a volume and a standby, which the subject's next session adopts. Resolves once it is accepted.
   */
  warm(volume: VolumeKey): Promise<void>;
  /** The sandboxes of an organization's sessions, as far as this process knows them, in no order. */
  list(organizationId: string): Promise<SandboxInfo[]>;
  /** Ends the session's sandbox; the volume stays. Succeeds if there is none. */
  remove(target: SandboxTarget): Promise<void>;
  /**
   * Undefined if there is no volume and `create` is false. Waits 10 s for a starting standby, then throws
   * `SandboxError`.
   */
  openVolume(volume: VolumeKey, options: { create: boolean }): Promise<VolumeFiles | undefined>;
  /** Undefined if there is no volume. */
  describeVolume(volume: VolumeKey): Promise<VolumeInfo | undefined>;
  /** Ends every sandbox of the subject and deletes its volume. Succeeds when there is none. */
  deleteVolume(volume: VolumeKey): Promise<void>;
  /** Ends every sandbox of the agent and deletes its volumes. */
  deleteVolumes(agent: Omit<VolumeKey, 'subjectId'>): Promise<void>;
  /** Registers a handler for notices of background processes. */
  onNotice(handler: (notice: SandboxNotice) => void): void;
  ping(): Promise<void>;
  close(): Promise<void>;
};
