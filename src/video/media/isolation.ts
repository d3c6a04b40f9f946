import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from './programs.ts';

export type Limits = {
  /** CPU seconds of all threads together; the kernel kills the process beyond them */
  cpuSeconds: number;
  /** address space */
  memoryBytes: number;
  /** maximum size of each written file */
  outputBytes: number;
  /** time until the process is killed */
  wallMs: number;
};

/** The absolute paths of the data that an isolated program can see. */
export type Access = { reads: readonly string[]; writes?: string };

/**
 * The isolation of ffmpeg. `full`: own namespaces, no network, only the named files. `network`: no network. `none`:
 * only resource limits and ffmpeg's own lists of protocols and formats.
 */
export type Isolation = 'full' | 'network' | 'none';

const SYSTEM = ['/bin', '/lib', '/lib32', '/lib64', '/libx32', '/etc/ld.so.cache', '/etc/alternatives'];

let found: Promise<Isolation> | undefined;

/** Detects the strongest isolation that this machine supports, once. Containers often forbid namespaces. */
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

/** The command that wraps a program for isolation. Empty if the tools are not installed. */
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

/** The command that sets kernel limits, independent of the isolation. Empty if prlimit is not installed. */
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
