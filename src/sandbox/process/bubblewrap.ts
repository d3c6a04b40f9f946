import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root: the executor's few files are all that a sandbox sees of it. */
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const EXECUTOR = 'sandbox-image/executor';
const CONTRACT = ['src/sandbox/protocol/executor.ts', 'src/sandbox/protocol/link.ts'];
const TMP_BYTES = 1024 * 1024 * 1024;

/** Inside the sandbox. */
const INSIDE = { home: '/opt/capstan', run: '/run/capstan', workspace: '/workspace' };

export type Wrapping = {
  network: 'none' | 'host';
  volume: string;
  /** private folder of this sandbox: `run/` for the socket, `etc/` for the few files of /etc */
  folder: string;
  nodePath: string;
  rgPath: string;
  /** what the volume may hold */
  volumeBytes: number;
};

/** Files of /etc that programs expect; nothing of the host's own. */
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

/** What the executor is started with; `env` is all it and its commands find. */
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
    ['--listen', `unix:${paths.socket}`, '--tethered'],
  ].flat();
}

/**
 * bwrap's arguments: own pid, mount, user, ipc, uts, cgroup and (unless `host`) network namespaces, no capability, no
 * further user namespaces, the host's programs read-only, and of its data only the volume.
 */
export function buildBubblewrapArguments(wrapping: Wrapping): string[] {
  const { folder, volume } = wrapping;
  const bind = (kind: string, source: string, target: string): string[] => [kind, source, target];
  const systemDirs = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].filter((path) => existsSync(path));
  const etcShared = ['ld.so.cache', 'alternatives', 'ssl/certs', 'ssl/openssl.cnf', 'ca-certificates', 'localtime'];
  if (wrapping.network === 'host') etcShared.push('resolv.conf');
  return [
    ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    wrapping.network === 'none' ? ['--unshare-net'] : [],
    ['--disable-userns', '--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL', '--hostname', 'sandbox'],
    ['--die-with-parent', '--new-session', '--clearenv'],
    Object.entries(ENV).flatMap(([name, value]) => ['--setenv', name, value]),
    bind('--ro-bind', '/usr', '/usr'),
    systemDirs.flatMap((path) => bind('--ro-bind', path, path)),
    ['--proc', '/proc', '--dev', '/dev'],
    ['--size', String(TMP_BYTES), '--tmpfs', '/tmp', '--tmpfs', '/home', '--symlink', '/tmp', '/var/tmp'],
    bind('--ro-bind', join(folder, 'etc'), '/etc'),
    etcShared.flatMap((name) => bind('--ro-bind-try', `/etc/${name}`, `/etc/${name}`)),
    bind('--ro-bind', wrapping.nodePath, `${INSIDE.home}/bin/node`),
    bind('--ro-bind', wrapping.rgPath, `${INSIDE.home}/bin/rg`),
    bind('--ro-bind', join(ROOT, EXECUTOR), `${INSIDE.home}/${EXECUTOR}`),
    CONTRACT.flatMap((file) => bind('--ro-bind', join(ROOT, file), `${INSIDE.home}/${file}`)),
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
      volumeBytes: wrapping.volumeBytes,
    }),
    ['--own-pids'],
  ].flat();
}

/** Without walls: only for those who have said that they accept the risk. */
export function buildUnwrappedCommand(wrapping: Wrapping): { args: string[]; env: Record<string, string> } {
  const args = buildExecutorCommand({
    node: wrapping.nodePath,
    executor: join(ROOT, EXECUTOR, 'main.ts'),
    workspace: wrapping.volume,
    stateDir: join(wrapping.folder, 'state'),
    rg: wrapping.rgPath,
    socket: join(wrapping.folder, 'run', 'executor.sock'),
    volumeBytes: wrapping.volumeBytes,
  });
  return { args, env: { ...ENV, HOME: wrapping.volume } };
}
