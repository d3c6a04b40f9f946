import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from './programs.ts';

export type Limits = {
  /** processor seconds of all threads together; the kernel kills past them */
  cpuSeconds: number;
  /** address space */
  memoryBytes: number;
  /** of any one file that is written */
  outputBytes: number;
  /** from start to being killed */
  wallMs: number;
};

/** What a confined program sees of this machine's data, by absolute path. */
export type Access = { reads: readonly string[]; writes?: string };

/**
 * The walls around ffmpeg. `full`: own namespaces, no network, no file but those named. `network`: no network.
 * `none`: limits, and ffmpeg's own lists of protocols and formats.
 */
export type Isolation = 'full' | 'network' | 'none';

const SYSTEM = ['/bin', '/lib', '/lib32', '/lib64', '/libx32', '/etc/ld.so.cache', '/etc/alternatives'];

let found: Promise<Isolation> | undefined;

/** The best walls that this machine can put up; looked for once. Containers often forbid the namespaces they take. */
export function findIsolation(): Promise<Isolation> {
  found ??= detectIsolation();
  return found;
}

async function detectIsolation(): Promise<Isolation> {
  const check = findProgram('true') ?? '/bin/true';
  for (const walls of ['full', 'network'] as const) {
    const [program, ...args] = [...buildIsolation(walls, { reads: [] }), check];
    if (program === undefined || program === check) continue;
    const works = promisify(execFile)(program, args, { env: {}, timeout: 30_000 });
    if (await works.then(Boolean, () => false)) return walls;
  }
  return 'none';
}

/** What goes before a program and its arguments. Empty where the means are not installed. */
export function buildIsolation(walls: Isolation, { reads, writes }: Access): string[] {
  const bwrap = findProgram('bwrap');
  if (walls === 'full' && bwrap !== undefined) {
    return [
      [bwrap, '--unshare-all', '--unshare-user', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
      ['--hostname', 'media', '--ro-bind', '/usr', '/usr'],
      SYSTEM.flatMap((path) => ['--ro-bind-try', path, path]),
      ['--dev', '/dev', '--tmpfs', '/tmp'],
      writes === undefined ? [] : ['--bind', writes, writes],
      reads.flatMap((path) => ['--ro-bind', path, path]),
      ['--remount-ro', '/', '--chdir', '/', '--'],
    ].flat();
  }
  const unshare = findProgram('unshare');
  return walls === 'network' && unshare !== undefined ? [unshare, '--map-root-user', '--net', '--'] : [];
}

/** The limits that the kernel keeps, whatever the walls. Empty where prlimit is not installed. */
export function buildLimits({ cpuSeconds, memoryBytes, outputBytes }: Limits): string[] {
  const prlimit = findProgram('prlimit');
  if (prlimit === undefined) return [];
  return [
    prlimit,
    `--cpu=${Math.ceil(cpuSeconds)}`,
    `--as=${memoryBytes}`,
    `--fsize=${outputBytes}`,
    '--nofile=128',
    '--core=0',
    '--',
  ];
}
