import type { Readable } from 'node:stream';
import { CapstanError } from '../platform/errors.ts';
import type { CauseOptions } from '../platform/errors.ts';
import type {
  FileEntry,
  FilePage,
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

/** One subject's files under one agent: what a volume belongs to. */
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
  /** whose working directory and environment: letters, digits and `_`; a new one begins as the session's own; absent: that */
  shell?: string;
  timeoutMs: number;
  /** what the command reads; absent: nothing */
  stdin?: string;
};

export type ScriptRequest = {
  callId: string;
  /** run by `bash -c` with the session's working directory and environment, of which it changes neither */
  command: string;
  /** lie in the folder `$CAPSTAN_SCRIPT` while it runs, beside the socket `rpc` */
  files: Record<string, string>;
  timeoutMs: number;
  maxRequests: number;
  /**
   * Answers a line that came to the socket, at most 4 at a time. `signal` is aborted when the script has ended; what it
   * throws ends the script and is thrown by `runScript`.
   */
  answer: (line: string, signal: AbortSignal) => Promise<string>;
};

/** News of a background process that the session asked for. */
export type SandboxNotice = {
  sessionId: string;
  processId: string;
  text: string;
  /**
   * Whether this server started the process with a request for notices. Pods outlive the server's processes: of theirs it
   * is undefined where another process may have started it.
   */
  isExpected: boolean | undefined;
};

/** Thrown when the sandbox itself failed, not the command: died, unreachable, could not start. */
export class SandboxError extends CapstanError<'sandbox_failed'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('sandbox_failed', message, { ...options, retryable: true });
  }
}

/** Thrown when the cluster refuses to start a sandbox: nothing has run. */
export class SandboxRefusedError extends SandboxError {}

/** Thrown when the sandbox did not answer in time. A sandbox on this machine is stopped then; the next call starts another. */
export class UnresponsiveError extends SandboxError {}

/** Thrown for a path outside the workspace, a missing file and so on; `code` is a POSIX name or `ESCAPE`, `ETOOBIG`, `ECHANGED`, `ERESERVED`. */
export class SandboxFileError extends CapstanError {}

/**
 * A running sandbox as one session sees it. Paths are workspace-relative or absolute below the workspace. After the
 * sandbox died or was stopped for idleness every method throws `SandboxError`: acquire again, at best for each call.
 */
export type SandboxSession = {
  /** the volume's root as commands see it */
  workspace: string;
  run(request: RunRequest, signal: AbortSignal): Promise<RunResult>;
  /** A program that may ask while it runs. Whatever it started ends with it. */
  runScript(request: ScriptRequest, signal: AbortSignal): Promise<ScriptResult>;
  stat(path: string): Promise<FileStat | undefined>;
  /** At most `maxBytes` from `offset`. Throws `SandboxFileError` (ENOENT, EISDIR, ESCAPE…). */
  readFile(path: string, range?: { offset: number; maxBytes: number }): Promise<{ stat: FileStat; bytes: Uint8Array }>;
  /** The whole file as a stream, for files too big to hold; end or return the iterator to let go of it. */
  openFile(path: string): Promise<{ stat: FileStat; body: AsyncIterable<Uint8Array> }>;
  /**
   * Temporary file and rename, parents created. With `ifModifiedMs` it throws ECHANGED when the file is another by now,
   * with `overwrite: false` EEXIST, past `maxBytes` ETOOBIG.
   */
  writeFile(
    path: string,
    bytes: Uint8Array | AsyncIterable<Uint8Array>,
    options?: { ifModifiedMs?: number; mode?: number; maxBytes?: number; overwrite?: boolean; createParents?: boolean },
  ): Promise<WriteResult>;
  /** Throws ENOENT, ENOTEMPTY (a full directory without `recursive`). */
  removeFile(path: string, options?: { recursive?: boolean }): Promise<void>;
  /** Files and directories; parents created. Throws ENOENT, EEXIST (unless `overwrite`), EINVAL (into itself). */
  moveFile(from: string, to: string, options?: { overwrite?: boolean }): Promise<void>;
  copyFile(from: string, to: string, options?: { overwrite?: boolean }): Promise<void>;
  /** With its parents; one that exists is returned as it is. Throws EEXIST when it is a file. */
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

/** Names at the top of the volume below which a change is refused (ERESERVED), by whatever links it gets there. */
type Protect = { protect: readonly string[] };

/**
 * A volume's files without a session. Paths are relative to the workspace and taken literally, `''` is its root. Throws
 * `SandboxFileError`, and `SandboxError` when the volume cannot be reached: open it again.
 */
export type VolumeFiles = {
  /** Links inside the workspace are followed; undefined when nothing is there. */
  stat(path: string): Promise<FileStat | undefined>;
  /** As `stat`, with what the content is. */
  describe(path: string): Promise<FileEntry | undefined>;
  /** Directories first, then by path. Throws ENOENT, ENOTDIR. */
  list(path: string, page: { recursive: boolean; limit: number; offset: number }): Promise<FilePage>;
  /**
   * `length` bytes: few of them may come whole, others as a stream, to be destroyed to let go of it. Throws ENOENT,
   * EISDIR, EINVAL, ETOOBIG.
   */
  open(
    path: string,
    options: { maxFileBytes: number; offset?: number; length?: number },
  ): Promise<{ length: number; body: Readable | Uint8Array }>;
  /** As `open`, for the whole file, with what the content is. */
  openDescribed(
    path: string,
    options: { maxFileBytes: number },
  ): Promise<{ entry: FileEntry; body: Readable | Uint8Array }>;
  /**
   * In one step, in the end; without `overwrite` one of any number of writers succeeds, the others get EEXIST. Returns
   * what is written.
   */
  write(
    path: string,
    source: AsyncIterable<Uint8Array>,
    options: Protect & { maxBytes: number; overwrite: boolean; createParents: boolean; sizeBytes?: number },
  ): Promise<FileEntry>;
  makeDirectory(path: string, options: Protect & { createParents: boolean }): Promise<void>;
  /** A link is moved itself. Returns what lies at `to`, a link that leads nowhere as itself; undefined when it is gone again. */
  move(from: string, to: string, options: Protect & { overwrite: boolean }): Promise<FileEntry | undefined>;
  copy(from: string, to: string, options: Protect & { overwrite: boolean; maxFileBytes: number }): Promise<void>;
  remove(path: string, options: Protect & { recursive: boolean }): Promise<void>;
  /** The query is taken literally, case and all. */
  find(path: string, query: string, limit: number, signal: AbortSignal): Promise<FoundFile[]>;
};

export type VolumeInfo = {
  status: 'warming' | 'ready' | 'unavailable';
  sizeBytes: number;
  usedBytes: number;
  createdAt: Date;
  updatedAt: Date;
};

/**
 * Where tools run. `acquire` is idempotent: the same session finds its sandbox again, and after a death gets a new one
 * on the same volume.
 */
export type Sandboxes = {
  /** A hint: there is such a session. Where sandboxes are listed for people it is listed from now on; nothing starts. */
  announce(target: SandboxTarget): Promise<void>;
  /**
   * A hint: a tool of the session will be called soon. Where a sandbox takes long to start it is started; resolves when
   * that has been asked for.
   */
  prepare(target: SandboxTarget): Promise<void>;
  acquire(target: SandboxTarget, signal: AbortSignal): Promise<SandboxSession>;
  /** A hint: get a volume and a standby ready, which the subject's next session adopts. Resolves when it was taken. */
  warm(volume: VolumeKey): Promise<void>;
  /** Ends the session's sandbox; the volume stays. Succeeds when there is none. */
  remove(target: SandboxTarget): Promise<void>;
  /** Undefined where there is no volume and `create` is false. Waits 10 s for one that warms up, then `SandboxError`. */
  openVolume(volume: VolumeKey, options: { create: boolean }): Promise<VolumeFiles | undefined>;
  /** Undefined where there is no volume. */
  describeVolume(volume: VolumeKey): Promise<VolumeInfo | undefined>;
  /** Ends every sandbox of the subject and deletes its volume. Succeeds when there is none. */
  deleteVolume(volume: VolumeKey): Promise<void>;
  /** Ends every sandbox of the agent and deletes its volumes. */
  deleteVolumes(agent: Omit<VolumeKey, 'subjectId'>): Promise<void>;
  /** Called for each notice of a background process, from now on. */
  onNotice(handler: (notice: SandboxNotice) => void): void;
  ping(): Promise<void>;
  close(): Promise<void>;
};
