import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ETC_FILES,
  SOCKET_INSIDE,
  WORKSPACE_INSIDE,
  buildBubblewrapOptions,
  buildInnerCommand,
  buildUnwrappedCommand,
  listStagedPaths,
} from './bubblewrap.ts';
import type { SandboxSpec } from './bubblewrap.ts';
import type { ControlGroup } from './control-groups.ts';
import { stagedSource, startBubblewrap } from './launch.ts';
import { openExecutorClient } from '../executor/client.ts';
import type { ExecutorClient } from '../executor/client.ts';
import { openExecutorLink } from '../executor/link.ts';
import type { ExecutorLink } from '../executor/link.ts';
import { SILENCE_MS } from '../executor/http.ts';
import { SandboxError } from '../sandbox.ts';

const START_TIMEOUT_MS = 60_000;
const STOP_GRACE_MS = 5000;
const OUT_OF_MEMORY = 'the sandbox ran out of memory and ended';
/** Linux's O_PATH, which `fs.constants` leaves out. */
const O_PATH = 0x200000;

export type ExecutorChild = {
  client: ExecutorClient;
  link: ExecutorLink;
  /** resolves when the process has ended, for whatever reason */
  ended: Promise<void>;
  isAlive(): boolean;
  /** `reason` tells calls in progress why they fail. */
  stop(reason?: string): Promise<void>;
  /** why it was stopped, or that it ended for want of memory; undefined: unknown */
  describeEnd(): string | undefined;
  /** on the host: the first process of the sandbox */
  rootPid: number | undefined;
  /** undefined where this process may create none */
  group: ControlGroup | undefined;
};

export type ChildOptions = Omit<SandboxSpec, 'folder'> & { group: ControlGroup | undefined };

type StartedProcess = {
  child: ChildProcess;
  /** the executor's socket as this process reaches it, once the executor listens */
  findSocket: () => Promise<string>;
  findRootPid: () => number | undefined;
  /** the volume's root as the executor names it */
  workspace: string;
  /** bubblewrap forwards no signal: its own death ends the whole pid namespace */
  stopSignal: 'SIGKILL' | 'SIGTERM';
};

function startIsolated(bwrapPath: string, spec: SandboxSpec, joinFiles: readonly string[]): StartedProcess {
  const launch = { bwrapPath, folder: spec.folder, uid: spec.uid, staged: listStagedPaths(spec), joinFiles };
  const { child, findRootPid } = startBubblewrap({
    ...launch,
    options: buildBubblewrapOptions(spec, (path) => stagedSource(launch, path)),
    command: buildInnerCommand(spec),
  });
  const findSocket = async (): Promise<string> => {
    const pid = findRootPid();
    if (pid === undefined) throw new SandboxError('bubblewrap did not report the process id of the sandbox');
    return `/proc/${pid}/root${SOCKET_INSIDE}`;
  };
  return { child, findSocket, findRootPid, workspace: WORKSPACE_INSIDE, stopSignal: 'SIGKILL' };
}

function startUnwrapped(spec: SandboxSpec): StartedProcess {
  const { program, args, env, cwd } = buildUnwrappedCommand(spec);
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env, cwd });
  const findSocket = async (): Promise<string> => join(spec.folder, 'run', 'executor.sock');
  const findRootPid = (): number | undefined => child.pid;
  return { child, findSocket, findRootPid, workspace: spec.volume, stopSignal: 'SIGTERM' };
}

/**
 * Starts one executor, isolated when there is a `bwrapPath`. Nothing is written to its stdin: the end of the pipe tells
 * it that this process is gone, even by SIGKILL. Throws `SandboxError` with its stderr when it does not start.
 */
export async function startExecutorChild(options: ChildOptions): Promise<ExecutorChild> {
  const folder = mkdtempSync(join(tmpdir(), `capstan-${process.pid}-`));
  prepareFolder(folder);
  const { group, ...rest } = options;
  const spec = { ...rest, folder };
  const { child, findSocket, findRootPid, workspace, stopSignal } =
    options.bwrapPath === undefined
      ? startUnwrapped(spec)
      : startIsolated(options.bwrapPath, spec, group?.joinFiles ?? []);
  let reason: string | undefined;
  const descriptors: number[] = [];
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  }).then(() => {
    if (group !== undefined && group.countOomKills() > 0) reason ??= OUT_OF_MEMORY;
    for (const fd of descriptors.splice(0)) closeSync(fd);
    rmSync(folder, { recursive: true, force: true });
  });
  const removed = ended.then(() => group?.remove());
  try {
    await waitReady(child, ended);
    const socket = pinSocket(await findSocket());
    descriptors.push(socket.fd);
    const client = openExecutorClient({ target: { socketPath: socket.path } }, workspace);
    const link = openExecutorLink(socket.path, SILENCE_MS);
    void ended.then(() => {
      client.close();
      link.close();
    });
    return {
      client,
      link,
      ended,
      isAlive: () => child.exitCode === null && child.signalCode === null,
      describeEnd: () => reason,
      rootPid: findRootPid(),
      group,
      async stop(why) {
        reason ??= why;
        child.kill(stopSignal);
        const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
        await ended;
        clearTimeout(timer);
        await removed;
      },
    };
  } catch (error) {
    child.kill('SIGKILL');
    await ended;
    throw error;
  }
}

/** Removes the folders of processes that were killed before they could. */
export function removeStaleFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(/^capstan-(\d+)-[A-Za-z0-9]{6}$/.exec(name)?.[1]);
    if (pid > 0 && !existsSync(`/proc/${pid}`)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

function prepareFolder(folder: string): void {
  for (const name of ['run', 'etc', 'etc/ssl']) mkdirSync(join(folder, name));
  for (const [name, text] of Object.entries(ETC_FILES)) writeFileSync(join(folder, 'etc', name), text);
  // read-only binds need a mount point
  for (const name of ['alternatives', 'ssl/certs', 'ca-certificates']) mkdirSync(join(folder, 'etc', name));
  for (const name of ['ld.so.cache', 'ssl/openssl.cnf', 'localtime', 'resolv.conf'])
    writeFileSync(join(folder, 'etc', name), '');
}

/**
 * Commands of the sandbox can write to the socket's folder. The descriptor is opened before any of them runs and every
 * connection goes through it, so replacing the socket by a link cannot redirect connections to a socket of the host.
 */
function pinSocket(path: string): { fd: number; path: string } {
  if (!existsSync('/proc/self/fd')) throw new SandboxError('local sandboxes need Linux with /proc');
  const fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  if (!fstatSync(fd).isSocket()) {
    closeSync(fd);
    throw new SandboxError('the sandbox created no socket');
  }
  unlinkSync(path);
  return { fd, path: `/proc/self/fd/${fd}` };
}

async function waitReady(child: ChildProcess, ended: Promise<void>): Promise<void> {
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    if (stderr.length < 2000) stderr += chunk.toString('utf8');
  });
  child.on('error', (error) => {
    stderr += error.message;
  });
  let timer: NodeJS.Timeout | undefined;
  const ready = await Promise.race([
    new Promise<boolean>((resolve) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        if (chunk.includes('ready')) resolve(true);
      });
    }),
    ended.then(() => false),
    new Promise<boolean>((resolve) => {
      timer = setTimeout(() => {
        stderr += `its executor was not ready within ${START_TIMEOUT_MS / 1000} s`;
        resolve(false);
      }, START_TIMEOUT_MS);
    }),
  ]);
  clearTimeout(timer);
  if (!ready) throw new SandboxError(`the sandbox did not start: ${stderr.trim() || 'no reason given'}`);
}
