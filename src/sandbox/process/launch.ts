import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, constants, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** A host path that a sandbox sees, and the place below the staging folder where the launcher puts it. */
export type StagedPath = { source: string; name: string; kind: 'file' | 'folder'; writable: boolean };

export type Launch = {
  bwrapPath: string;
  /** bubblewrap's options, in which `{name}` of a staged path stands as `STAGE/name` */
  options: readonly string[];
  /** what runs inside */
  command: readonly string[];
  staged: readonly StagedPath[];
  /** private folder of this sandbox on the host */
  folder: string;
  /** the unprivileged user that bubblewrap is started as; undefined: the caller's own, who is not root */
  uid: number | undefined;
  /** files of a control group, to which the launcher writes its process id before it starts bubblewrap */
  joinFiles: readonly string[];
};

/** Descriptors of the child beside its standard streams. */
const ARGS_FD = 3;
const SECCOMP_FD = 4;
const INFO_FD = 5;

/** Where the launcher mounts the staging folder in its own mount namespace: every Linux has it. */
const STAGE = '/mnt';

const IMAGE = new URL('../../../sandbox-image/', import.meta.url);

/**
 * Puts the host paths of a sandbox where its unprivileged user can reach them, whatever the modes of the folders above
 * them, and becomes that user. The mounts are in a namespace of their own and end with it.
 * Arguments: staging folder, target, uid, then kind, name and source of each path, `--`, and the command.
 */
const LAUNCHER = `set -eu
stage=$1 target=$2 uid=$3
shift 3
mount -t tmpfs -o mode=0755,nosuid,nodev,size=256k capstan "$stage"
while [ "$1" != -- ]; do
  if [ "$1" = folder ]; then mkdir "$stage/$2"; else : >"$stage/$2"; fi
  mount --bind "$3" "$stage/$2"
  shift 3
done
shift
mount --move "$stage" "$target"
exec setpriv --reuid="$uid" --regid="$uid" --clear-groups -- "$@"`;

/** Joins a control group and becomes the command. Arguments: the group's files, `--`, and the command. */
const JOINER = `set -eu
while [ "$1" != -- ]; do
  echo $$ >"$1"
  shift
done
shift
exec "$@"`;

/** The file below `sandbox-image` for this processor; undefined where none is shipped. */
export function findForProcessor(files: Partial<Record<NodeJS.Architecture, string>>): string | undefined {
  const name = files[process.arch];
  return name === undefined ? undefined : fileURLToPath(new URL(name, IMAGE));
}

/** Undefined where no filter is shipped for the processor. */
export function findSeccompFilter(): string | undefined {
  return findForProcessor({ x64: 'seccomp/x86_64.bpf', arm64: 'seccomp/aarch64.bpf' });
}

/** The place of a staged path in bubblewrap's options. */
export function stagedSource(launch: Pick<Launch, 'uid'>, path: StagedPath): string {
  return launch.uid === undefined ? path.source : `${STAGE}/${path.name}`;
}

/** The program and its arguments; the options go through a descriptor, so that no command line shows them. */
export function buildLaunchCommand(launch: Launch): string[] {
  const joiner = ['sh', '-c', JOINER, 'capstan-joiner', ...launch.joinFiles, '--'];
  return [...(launch.joinFiles.length === 0 ? [] : joiner), ...buildStagedCommand(launch)];
}

function buildStagedCommand(launch: Launch): string[] {
  const bwrap = [launch.bwrapPath, '--args', String(ARGS_FD), '--', ...launch.command];
  if (launch.uid === undefined) return bwrap;
  const staged = launch.staged.flatMap(({ kind, name, source }) => [kind, name, source]);
  const stage = join(launch.folder, 'stage');
  const script = ['sh', '-c', LAUNCHER, 'capstan-launcher', stage, STAGE, String(launch.uid), ...staged, '--'];
  return ['unshare', '--mount', '--propagation', 'private', '--', ...script, ...bwrap];
}

/**
 * Starts bubblewrap. The child's standard streams are pipes. Once the sandbox runs, `findRootPid` returns the process id,
 * on the host, of its first process. bubblewrap writes it to a file: writing to a pipe would kill it when this process is
 * gone, before it has told its own child to go on or to end.
 */
export function startBubblewrap(launch: Launch): { child: ChildProcess; findRootPid: () => number | undefined } {
  const filter = findSeccompFilter();
  const seccomp = filter === undefined ? undefined : openSync(filter, constants.O_RDONLY);
  const options = [
    ...launch.options,
    ...(seccomp === undefined ? [] : ['--seccomp', String(SECCOMP_FD)]),
    '--info-fd',
    String(INFO_FD),
  ];
  const [program = '', ...args] = buildLaunchCommand(launch);
  if (launch.uid !== undefined) mkdirSync(join(launch.folder, 'stage'));
  const infoPath = join(launch.folder, 'info');
  const info = openSync(infoPath, 'w');
  try {
    const stdio = ['pipe', 'pipe', 'pipe', 'pipe', seccomp ?? 'ignore', info] as const;
    const child = spawn(program, args, { stdio: [...stdio], env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }, cwd: '/' });
    const argsPipe = child.stdio[ARGS_FD] as Writable;
    // a launcher that fails early is told by its standard error
    argsPipe.on('error', () => undefined);
    argsPipe.end(options.map((option) => `${option}\0`).join(''));
    return { child, findRootPid: () => readRootPid(infoPath) };
  } finally {
    closeSync(info);
    if (seccomp !== undefined) closeSync(seccomp);
  }
}

const MAX_COMPLAINT = 4096;
/** A machine under load takes long, above all where many file systems are mounted. */
const CHECK_TIMEOUT_MS = 120_000;

function readRootPid(infoPath: string): number | undefined {
  try {
    const pid: unknown = (JSON.parse(readFileSync(infoPath, 'utf8')) as Record<string, unknown>)['child-pid'];
    return typeof pid === 'number' ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Runs an empty sandbox as `uid`, or as this process's own user. Returns why that fails, undefined when it works. */
export async function findStartFailure(
  bwrapPath: string,
  uid: number | undefined,
  timeoutMs = CHECK_TIMEOUT_MS,
): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), `capstan-${process.pid}-`));
  try {
    const options = ['--ro-bind', '/', '/', '--unshare-user', '--unshare-pid', '--proc', '/proc', '--dev', '/dev'];
    const { child } = startBubblewrap({
      bwrapPath,
      options,
      command: ['true'],
      staged: [],
      folder,
      uid,
      joinFiles: [],
    });
    let complaint = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      if (complaint.length < MAX_COMPLAINT) complaint += chunk.toString('utf8');
    });
    const timer = setTimeout(() => {
      complaint = `an empty sandbox did not end within ${timeoutMs / 1000} s`;
      child.kill('SIGKILL');
    }, timeoutMs);
    const code = await new Promise<number | null>((resolve) => {
      child.once('error', (error) => {
        complaint += error.message;
        resolve(null);
      });
      child.once('close', resolve);
    });
    clearTimeout(timer);
    return code === 0 ? undefined : complaint.trim() || 'no reason given';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
