// Tests: test/sandbox/port-shells.test.ts
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { ExecutorOperations, ProcessInfo, ProcessOutput } from '../../../src/sandbox/protocol/executor.ts';
import { ExecutorError } from '../executor-error.ts';
import { killTree } from '../run/kill.ts';
import { rollOutput } from '../run/output.ts';
import type { Shell } from '../run/shell.ts';
import type { Notices } from './notices.ts';
import { buildGlobalLimit, buildWatch } from './watch.ts';

const BUFFER_CAP = 200_000;
const MAX_PROCESSES = 64;
const KEPT_MS = 30 * 60_000;
/** Signals become negative exit codes, as in Python's subprocess. */
const KILLED_CODE = -15;

type StartInput = ExecutorOperations['startProcess']['input'];

type Entry = {
  id: string;
  command: string;
  cwd: string;
  mark: string;
  child: ChildProcess;
  startedMs: number;
  endedMs: number | undefined;
  exitCode: number | null;
  reason: string | null;
  killed: boolean;
  /** a notice is sent when the process ends */
  announceExit: boolean;
  output: ReturnType<typeof rollOutput>;
  ended: Promise<void>;
};

export type ProcessTable = {
  start(input: StartInput): ProcessInfo;
  list(): ProcessInfo[];
  output(id: string): ProcessOutput | null;
  /** Resolves at the end of the process, of the time or at the abort, whichever is first. */
  wait(id: string, timeoutMs: number, signal: AbortSignal): Promise<ProcessInfo | null>;
  kill(id: string): Promise<ProcessInfo | null>;
  write(id: string, data: string): boolean;
  closeInput(id: string): boolean;
  close(): Promise<void>;
};

/** Background processes: at most 64, with 200,000 characters of output each; finished ones are kept for 30 minutes. */
export function openProcessTable(shell: Shell, notices: Notices): ProcessTable {
  const entries = new Map<string, Entry>();
  const allow = buildGlobalLimit(Date.now);

  const find = (id: string): Entry | undefined => entries.get(id);

  const start: ProcessTable['start'] = (input) => {
    evictFinished(entries);
    const entry = startEntry(input, shell, notices, allow);
    entries.set(entry.id, entry);
    return describe(entry);
  };

  const kill: ProcessTable['kill'] = async (id) => {
    const entry = find(id);
    if (entry === undefined) return null;
    if (entry.endedMs === undefined && entry.child.pid !== undefined) {
      entry.killed = true;
      await killTree(entry.child.pid, entry.mark);
      await entry.ended;
    }
    return describe(entry);
  };

  return {
    start,
    kill,
    list: () => [...entries.values()].map(describe),
    output(id) {
      const entry = find(id);
      return entry === undefined ? null : { info: describe(entry), output: entry.output.read() };
    },
    async wait(id, timeoutMs, signal) {
      const entry = find(id);
      if (entry === undefined) return null;
      await waitEnd(entry, timeoutMs, signal);
      return describe(entry);
    },
    write(id, data) {
      const input = find(id)?.child.stdin;
      if (input === null || input === undefined || input.destroyed || input.writableEnded) return false;
      input.write(data);
      return true;
    },
    closeInput(id) {
      const input = find(id)?.child.stdin;
      if (input === null || input === undefined || input.destroyed) return false;
      input.end();
      return true;
    },
    async close() {
      await Promise.all([...entries.keys()].map(kill));
    },
  };
}

function startEntry(input: StartInput, shell: Shell, notices: Notices, allow: () => boolean): Entry {
  const { child, cwd, mark } = shell.start({
    command: input.command,
    ...(input.workdir === undefined ? {} : { workdir: input.workdir }),
    ...(input.shell === undefined ? {} : { shell: input.shell }),
    stdin: true,
    persistState: false,
    pty: input.pty,
  });
  const ended = Promise.withResolvers<void>();
  const entry: Entry = {
    id: `proc_${randomBytes(6).toString('hex')}`,
    command: input.command,
    cwd,
    mark,
    child,
    announceExit: input.notifyOnComplete,
    output: rollOutput(BUFFER_CAP),
    startedMs: Date.now(),
    endedMs: undefined,
    exitCode: null,
    reason: null,
    killed: false,
    ended: ended.promise,
  };
  watchOutput(entry, input, notices, allow);
  child.stdin?.on('error', () => undefined);
  const finish = (code: number | null, reason: string): void => {
    if (recordExit(entry, code, reason)) {
      if (entry.announceExit) announceExit(entry, notices);
      ended.resolve();
    }
  };
  const onEnd = (code: number | null, signal: NodeJS.Signals | null): void =>
    finish(code ?? (signal === 'SIGKILL' ? -9 : KILLED_CODE), signal === null ? 'exit' : 'signal');
  child.on('error', () => finish(127, 'exit'));
  // output still in the pipe belongs to the process; children that hold the pipe open do not delay its end
  child.on('exit', (code, signal) => setTimeout(() => onEnd(code, signal), 200).unref());
  child.on('close', onEnd);
  return entry;
}

/** Stores the output of a process, and sends a notice when a line matches one of the patterns. */
function watchOutput(entry: Entry, input: StartInput, notices: Notices, allow: () => boolean): void {
  const { id, child, output } = entry;
  const watch = buildWatch({
    // the exit notice includes the output; a second notice would repeat it
    patterns: input.notifyOnComplete ? [] : input.watchPatterns.filter((pattern) => pattern !== ''),
    now: Date.now,
    allow,
    onHit: (text) => notices.send(id, `[Background process ${id} ${text}]`),
    onDisabled: () => {
      entry.announceExit = true;
      notices.send(
        id,
        `[Background process ${id} matches its watch patterns too often: watching has stopped, its exit will be announced]`,
      );
    },
  });
  const take = (chunk: Buffer): void => watch.push(output.push(chunk));
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
}

/** Returns false if the end was already recorded. */
function recordExit(entry: Entry, code: number | null, reason: string): boolean {
  if (entry.endedMs !== undefined) return false;
  entry.endedMs = Date.now();
  entry.exitCode = entry.killed ? KILLED_CODE : code;
  entry.reason = entry.killed ? 'killed' : reason;
  entry.child.stdin?.destroy();
  return true;
}

function announceExit({ id, command, exitCode, output }: Entry, notices: Notices): void {
  const tail = output.read().slice(-2000);
  notices.send(
    id,
    `[Background process ${id} finished with exit code ${exitCode}. Command: ${command.slice(0, 200)}\nOutput:\n${tail}]`,
  );
}

function describe(entry: Entry): ProcessInfo {
  return {
    id: entry.id,
    command: entry.command,
    cwd: entry.cwd,
    pid: entry.child.pid ?? 0,
    startedAt: new Date(entry.startedMs).toISOString(),
    uptimeSeconds: Math.round((entry.endedMs ?? Date.now()) - entry.startedMs) / 1000,
    status: entry.endedMs === undefined ? 'running' : 'exited',
    exitCode: entry.exitCode,
    completionReason: entry.reason,
  };
}

/** Keeps the table below its maximum. Throws EAGAIN when all entries are running. */
function evictFinished(entries: Map<string, Entry>): void {
  const finished = [...entries.values()].filter((entry) => entry.endedMs !== undefined);
  for (const entry of finished) if (Date.now() - (entry.endedMs ?? 0) > KEPT_MS) entries.delete(entry.id);
  if (entries.size < MAX_PROCESSES) return;
  const oldest = finished
    .filter((entry) => entries.has(entry.id))
    .sort((a, b) => (a.endedMs ?? 0) - (b.endedMs ?? 0))[0];
  if (oldest === undefined)
    throw new ExecutorError('input', 'EAGAIN', `${MAX_PROCESSES} background processes are running; kill one first`);
  entries.delete(oldest.id);
}

/** Resolves at the end of the process, at the timeout or at the abort, whichever is first. */
async function waitEnd(entry: Entry, timeoutMs: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;
  await Promise.race([
    entry.ended,
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
      stop = () => resolve();
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) resolve();
    }),
  ]);
  clearTimeout(timer);
  signal.removeEventListener('abort', stop);
}
