import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findForProcessor } from './launch.ts';
import type { StagedPath } from './launch.ts';

/** The repository's root, of which a sandbox sees only the executor's files. */
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const EXECUTOR = 'sandbox-image/executor';
const PROTOCOL = ['src/sandbox/protocol/executor.ts', 'src/sandbox/protocol/link.ts'];
/** Restricts itself with Landlock and becomes the executor; undefined where none is shipped for the processor. */
const RESTRICT = findForProcessor({ x64: 'landlock/restrict.x86_64', arm64: 'landlock/restrict.aarch64' });
const SHM_BYTES = 64 * 1024 * 1024;
const RUN_BYTES = 64 * 1024;

/** Paths inside the sandbox. */
const INSIDE = { home: '/opt/capstan', run: '/run/capstan', workspace: '/workspace' };

/** The executor's socket, as its sandbox sees it. */
export const SOCKET_INSIDE = `${INSIDE.run}/executor.sock`;
export const WORKSPACE_INSIDE = INSIDE.workspace;

export type SandboxSpec = {
  /** undefined: run without isolation */
  bwrapPath: string | undefined;
  network: 'none' | 'host';
  /** the volume's folder on the host */
  volume: string;
  /** private folder of this sandbox on the host: `etc/` for files of /etc, without isolation `run/` for the socket */
  folder: string;
  nodePath: string;
  /** the same program without the right to read it, so that its processes cannot be traced or read */
  sealedNodePath: string;
  rgPath: string;
  /** the volume's quota */
  volumeBytes: number;
  /** of `/tmp`, which is in memory */
  tmpBytes: number;
  /** processes and threads */
  maxProcesses: number;
  /** the unprivileged user of the sandbox; undefined: this process's own, who is not root */
  uid: number | undefined;
};

/** What a sandbox consists of, apart from how it is started. */
export type SandboxContent = Omit<SandboxSpec, 'bwrapPath' | 'uid'>;

/** How to start an executor without isolation. */
export type UnwrappedCommand = { program: string; args: string[]; env: Record<string, string>; cwd: string };

/** Files of /etc that programs expect; none are the host's. */
export const ETC_FILES: Record<string, string> = {
  passwd: 'agent:x:1000:1000:agent:/workspace:/bin/bash\n',
  group: 'agent:x:1000:\n',
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

const ENV = {
  PATH: `/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:${INSIDE.home}/bin`,
  HOME: INSIDE.workspace,
  USER: 'agent',
  LOGNAME: 'agent',
  SHELL: '/bin/bash',
  LANG: 'C.UTF-8',
  TMPDIR: '/tmp',
  XDG_CACHE_HOME: '/tmp/.cache',
  npm_config_cache: '/tmp/.cache/npm',
};

/** The executor's own command line. */
export function buildExecutorCommand(paths: {
  node: string;
  executor: string;
  workspace: string;
  stateDir: string;
  rg: string;
  socket: string;
  volumeBytes: number;
  maxProcesses: number;
}): string[] {
  return [
    [paths.node, '--disable-sigusr1', '--disable-warning=ExperimentalWarning', paths.executor],
    ['--workspace', paths.workspace],
    ['--state-dir', paths.stateDir],
    ['--rg', paths.rg],
    ['--volume-bytes', String(paths.volumeBytes)],
    ['--max-processes', String(paths.maxProcesses)],
    ['--listen', `unix:${paths.socket}`, '--exit-on-stdin-eof'],
  ].flat();
}

/** The host paths that a sandbox sees beside its programs. */
export function listStagedPaths(content: SandboxContent): StagedPath[] {
  const file = (name: string, source: string): StagedPath => ({ name, source, kind: 'file', writable: false });
  return [
    { name: 'workspace', source: content.volume, kind: 'folder', writable: true },
    { name: 'etc', source: join(content.folder, 'etc'), kind: 'folder', writable: false },
    { name: 'executor', source: join(ROOT, EXECUTOR), kind: 'folder', writable: false },
    file('node', content.nodePath),
    file('sealed-node', content.sealedNodePath),
    file('rg', content.rgPath),
    ...(RESTRICT === undefined ? [] : [file('restrict', RESTRICT)]),
    file('package.json', join(ROOT, 'package.json')),
    ...PROTOCOL.map((path) => file(basename(path), join(ROOT, path))),
  ];
}

/** Where each staged path stands in the sandbox. */
const TARGETS: Readonly<Record<string, string>> = {
  workspace: INSIDE.workspace,
  etc: '/etc',
  executor: `${INSIDE.home}/${EXECUTOR}`,
  node: `${INSIDE.home}/bin/node`,
  'sealed-node': `${INSIDE.home}/executor`,
  rg: `${INSIDE.home}/bin/rg`,
  restrict: `${INSIDE.home}/restrict`,
  'package.json': `${INSIDE.home}/package.json`,
  ...Object.fromEntries(PROTOCOL.map((path) => [basename(path), `${INSIDE.home}/${path}`])),
};

/** Facts of the host and its kernel that no command needs, as container runtimes mask them. */
const MASKED_FILES = [
  'keys',
  'key-users',
  'kcore',
  'kallsyms',
  'timer_list',
  'sched_debug',
  'latency_stats',
  'interrupts',
];
const READ_ONLY_FOLDERS = ['sys', 'fs', 'irq', 'bus', 'sysrq-trigger'];

function buildProcOptions(): string[] {
  const present = (name: string): boolean => existsSync(`/proc/${name}`);
  return [
    ['--proc', '/proc'],
    MASKED_FILES.filter(present).flatMap((name) => ['--ro-bind', '/dev/null', `/proc/${name}`]),
    READ_ONLY_FOLDERS.filter(present).flatMap((name) => ['--ro-bind', `/proc/${name}`, `/proc/${name}`]),
  ].flat();
}

/**
 * bubblewrap's options: own pid, mount, user, ipc, uts, cgroup and (unless `host`) network namespaces, no capability, no
 * further user namespaces, the host's programs read-only, and of its data only the volume. Every writable place but the
 * volume is a file system in memory with a limit. `sourceOf` tells where a staged path is found at the start.
 */
export function buildBubblewrapOptions(content: SandboxContent, sourceOf: (path: StagedPath) => string): string[] {
  const systemDirs = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].filter((path) => existsSync(path));
  const etcShared = ['ld.so.cache', 'alternatives', 'ssl/certs', 'ssl/openssl.cnf', 'ca-certificates', 'localtime'];
  if (content.network === 'host') etcShared.push('resolv.conf');
  const staged = listStagedPaths(content).flatMap((path) => [
    path.writable ? '--bind' : '--ro-bind',
    sourceOf(path),
    TARGETS[path.name] ?? '',
  ]);
  return [
    ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    content.network === 'none' ? ['--unshare-net'] : [],
    ['--disable-userns', '--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL', '--hostname', 'sandbox'],
    ['--die-with-parent', '--new-session', '--clearenv'],
    Object.entries(ENV).flatMap(([name, value]) => ['--setenv', name, value]),
    ['--ro-bind', '/usr', '/usr'],
    systemDirs.flatMap((path) => ['--ro-bind', path, path]),
    buildProcOptions(),
    ['--dev', '/dev', '--size', String(SHM_BYTES), '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ['--size', String(content.tmpBytes), '--tmpfs', '/tmp', '--dir', '/home', '--symlink', '/tmp', '/var/tmp'],
    ['--size', String(RUN_BYTES), '--tmpfs', INSIDE.run],
    staged,
    etcShared.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ['--remount-ro', '/', '--chdir', INSIDE.workspace],
  ].flat();
}

/** Every place of the sandbox that is writable at all. Landlock closes the rest, should a mount ever be missed. */
const WRITABLE = [INSIDE.workspace, INSIDE.run, '/tmp', '/dev', '/proc'];

/** The executor's command line inside the sandbox. */
export function buildInnerCommand(content: SandboxContent): string[] {
  const command = buildExecutorCommand({
    node: TARGETS['sealed-node'] ?? '',
    executor: `${INSIDE.home}/${EXECUTOR}/main.ts`,
    workspace: INSIDE.workspace,
    stateDir: '/tmp/.capstan',
    rg: `${INSIDE.home}/bin/rg`,
    socket: SOCKET_INSIDE,
    volumeBytes: content.volumeBytes,
    maxProcesses: content.maxProcesses,
  });
  const restrict = RESTRICT === undefined ? [] : [TARGETS['restrict'] ?? '', ...WRITABLE, '--'];
  return [...restrict, ...command, '--own-pids'];
}

/** Without isolation: only where the operator of the machine has accepted the risk. */
export function buildUnwrappedCommand(spec: SandboxContent): UnwrappedCommand {
  const [program = '', ...args] = buildExecutorCommand({
    node: spec.nodePath,
    executor: join(ROOT, EXECUTOR, 'main.ts'),
    workspace: spec.volume,
    stateDir: join(spec.folder, 'state'),
    rg: spec.rgPath,
    socket: join(spec.folder, 'run', 'executor.sock'),
    volumeBytes: spec.volumeBytes,
    maxProcesses: spec.maxProcesses,
  });
  const { volume } = spec;
  return { program, args, env: { ...ENV, HOME: volume }, cwd: volume };
}
