import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root, of which a sandbox sees only the executor's files. */
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const EXECUTOR = 'sandbox-image/executor';
const PROTOCOL = ['src/sandbox/protocol/executor.ts', 'src/sandbox/protocol/link.ts'];
const TMP_BYTES = 1024 * 1024 * 1024;

/** Paths inside the sandbox. */
const INSIDE = { home: '/opt/capstan', run: '/run/capstan', workspace: '/workspace' };

export type SandboxSpec = {
  /** undefined: run without isolation */
  bwrapPath: string | undefined;
  network: 'none' | 'host';
  /** the volume's folder on the host */
  volume: string;
  /** private folder of this sandbox on the host: `run/` for the socket, `etc/` for files of /etc */
  folder: string;
  nodePath: string;
  rgPath: string;
  /** the volume's quota */
  volumeBytes: number;
};

/** How to start the executor of one sandbox. */
export type LaunchCommand = {
  program: string;
  args: string[];
  env: Record<string, string>;
  /** the working directory on the host */
  cwd: string;
  /** the volume's root as the executor names it */
  workspace: string;
  /** bubblewrap forwards no signal: its own death ends the whole pid namespace */
  stopSignal: 'SIGKILL' | 'SIGTERM';
};

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
}): string[] {
  return [
    [paths.node, '--disable-warning=ExperimentalWarning', paths.executor],
    ['--workspace', paths.workspace],
    ['--state-dir', paths.stateDir],
    ['--rg', paths.rg],
    ['--volume-bytes', String(paths.volumeBytes)],
    ['--listen', `unix:${paths.socket}`, '--exit-on-stdin-eof'],
  ].flat();
}

/** The only place that decides how a sandbox is isolated. */
export function buildLaunchCommand(spec: SandboxSpec): LaunchCommand {
  const { bwrapPath } = spec;
  if (bwrapPath === undefined) return buildUnwrappedCommand(spec);
  return {
    program: bwrapPath,
    args: buildBubblewrapArguments(spec),
    env: {},
    cwd: '/',
    workspace: INSIDE.workspace,
    stopSignal: 'SIGKILL',
  };
}

/**
 * Own pid, mount, user, ipc, uts, cgroup and (unless `host`) network namespaces; no capabilities, no further user
 * namespaces; the host's programs read-only, and of its data only the volume.
 */
export function buildBubblewrapArguments(spec: Omit<SandboxSpec, 'bwrapPath'>): string[] {
  const { folder, volume } = spec;
  const bind = (kind: string, source: string, target: string): string[] => [kind, source, target];
  const systemDirs = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].filter((path) => existsSync(path));
  const etcShared = ['ld.so.cache', 'alternatives', 'ssl/certs', 'ssl/openssl.cnf', 'ca-certificates', 'localtime'];
  if (spec.network === 'host') etcShared.push('resolv.conf');
  return [
    ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    spec.network === 'none' ? ['--unshare-net'] : [],
    ['--disable-userns', '--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL', '--hostname', 'sandbox'],
    ['--die-with-parent', '--new-session', '--clearenv'],
    Object.entries(ENV).flatMap(([name, value]) => ['--setenv', name, value]),
    bind('--ro-bind', '/usr', '/usr'),
    systemDirs.flatMap((path) => bind('--ro-bind', path, path)),
    ['--proc', '/proc', '--dev', '/dev'],
    ['--size', String(TMP_BYTES), '--tmpfs', '/tmp', '--tmpfs', '/home', '--symlink', '/tmp', '/var/tmp'],
    bind('--ro-bind', join(folder, 'etc'), '/etc'),
    etcShared.flatMap((name) => bind('--ro-bind-try', `/etc/${name}`, `/etc/${name}`)),
    bind('--ro-bind', spec.nodePath, `${INSIDE.home}/bin/node`),
    bind('--ro-bind', spec.rgPath, `${INSIDE.home}/bin/rg`),
    bind('--ro-bind', join(ROOT, EXECUTOR), `${INSIDE.home}/${EXECUTOR}`),
    PROTOCOL.flatMap((file) => bind('--ro-bind', join(ROOT, file), `${INSIDE.home}/${file}`)),
    bind('--ro-bind', join(ROOT, 'package.json'), `${INSIDE.home}/package.json`),
    bind('--bind', join(folder, 'run'), INSIDE.run),
    bind('--bind', volume, INSIDE.workspace),
    ['--remount-ro', '/', '--chdir', INSIDE.workspace, '--'],
    buildExecutorCommand({
      node: `${INSIDE.home}/bin/node`,
      executor: `${INSIDE.home}/${EXECUTOR}/main.ts`,
      workspace: INSIDE.workspace,
      stateDir: '/tmp/.capstan',
      rg: `${INSIDE.home}/bin/rg`,
      socket: `${INSIDE.run}/executor.sock`,
      volumeBytes: spec.volumeBytes,
    }),
    ['--own-pids'],
  ].flat();
}

/** Without isolation: only where the operator of the machine has accepted the risk. */
function buildUnwrappedCommand(spec: SandboxSpec): LaunchCommand {
  const [program = '', ...args] = buildExecutorCommand({
    node: spec.nodePath,
    executor: join(ROOT, EXECUTOR, 'main.ts'),
    workspace: spec.volume,
    stateDir: join(spec.folder, 'state'),
    rg: spec.rgPath,
    socket: join(spec.folder, 'run', 'executor.sock'),
    volumeBytes: spec.volumeBytes,
  });
  const { volume } = spec;
  return { program, args, env: { ...ENV, HOME: volume }, cwd: volume, workspace: volume, stopSignal: 'SIGTERM' };
}
