// Tests: test/sandbox/port-shells.test.ts, test/sandbox/port-scripts.test.ts
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExecutorError } from '../executor-error.ts';
import { withLocated } from '../files/resolve.ts';
import type { Settings } from '../settings.ts';
import { readSmallFile } from './small-file.ts';

export type Shell = {
  /** bash of its own session and group; `mark` names its tree in the environment */
  start(request: StartRequest): { child: ChildProcess; cwd: string; mark: string };
  /** working directory after the last command of this shell */
  readCwd(name?: string): string;
};

export type StartRequest = {
  command: string;
  workdir?: string;
  stdin: boolean;
  /** save the working directory and the exported environment for the next command */
  persistState: boolean;
  pty?: boolean;
  /** the shell whose state is restored and saved; a new one starts with the session's state */
  shell?: string;
  /** a separate stderr; default: one stream with stdout */
  splitStderr?: boolean;
};

/**
 * Restores the environment, sets limits, runs the command and saves its state. The EXIT trap also saves the state after
 * an `exit` in the command; a command with its own EXIT trap saves none. `exec 2>&1` sends both streams through one
 * pipe, which preserves their order.
 */
const PRELUDE = String.raw`
exec 2>&1
__dir=$PWD; [ -r "$CAPSTAN_STATE/env" ] && __base=$CAPSTAN_STATE; [ -r "$__base/env" ] && . "$__base/env"; __old=$OLDPWD; cd -- "$__dir" 2>/dev/null; [ -n "$__old" ] && OLDPWD=$__old || unset OLDPWD
export CAPSTAN_CALL="$__call"
ulimit -c 0 -u "$__processes" -d "$__memory" 2>/dev/null
ulimit -f "$__file_kib" 2>/dev/null
echo 500 2>/dev/null >/proc/self/oom_score_adj
unset __dir __old __base __processes __memory __file_kib __call
__capstan_keep() {
  local code=$? state="$CAPSTAN_STATE" mine="$BASHPID"
  [ "$__keep" = 1 ] || return $code
  ( unset CAPSTAN_CALL CAPSTAN_STATE; export -p ) > "$state/env.$mine" 2>/dev/null && mv -f "$state/env.$mine" "$state/env"
  pwd -P > "$state/cwd.$mine" 2>/dev/null && mv -f "$state/cwd.$mine" "$state/cwd"
  return $code
}
trap __capstan_keep EXIT
__text=$(<"$__file")
unset __file
eval "$__text"
`;

/**
 * In the machine's own user namespace, as in most pods, the kernel counts this user's processes in every pod of the
 * node, so other pods could exhaust the limit. There `enforceProcessLimit` and the node limit processes instead.
 */
function isUserShared(): boolean {
  const [inside, outside, count] = readFileSync('/proc/self/uid_map', 'utf8').trim().split(/\s+/).map(Number);
  return inside === 0 && outside === 0 && count === 2 ** 32 - 1;
}

/** The longest path that Linux takes, and the end of its line. */
const MAX_CWD_BYTES = 4097;

/** On a full volume commands can still write small files, for instance to `/tmp`, so that they can remove others. */
const MIN_FILE_BYTES = 1024 * 1024;

/** The value for `ulimit -f`, in KiB. */
function describeFileLimit(bytes: number): string {
  return Number.isFinite(bytes) ? String(Math.ceil(Math.max(bytes, MIN_FILE_BYTES) / 1024)) : 'unlimited';
}

/** Without `persistState` there is no trap that a background process could run. */
function buildPrelude(persistState: boolean, splitStderr: boolean): string {
  const prelude = persistState ? PRELUDE : PRELUDE.replace('trap __capstan_keep EXIT\n', '');
  return splitStderr ? prelude.replace('exec 2>&1\n', '') : prelude;
}

/** Variables hidden from commands: the executor's settings, and the address of the Kubernetes API server. */
const OF_THE_EXECUTOR = /^(CAPSTAN_|KUBERNETES_|POD_UID$|NODE_COMPILE_CACHE$)/;

/** `usedBytes` of the volume: a command's files may not grow beyond the remaining space. */
export function openShell(settings: Settings, usedBytes: () => number): Shell {
  mkdirSync(settings.stateDir, { recursive: true, mode: 0o700 });
  const baseEnv = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_THE_EXECUTOR.test(name)));

  const stateOf = (name: string | undefined): string => {
    if (name === undefined) return settings.stateDir;
    if (!/^\w{1,64}$/.test(name)) throw new ExecutorError('input', 'EINVAL', 'a shell has no such name');
    return join(settings.stateDir, 'shells', name);
  };

  const findCwd = (stateDir: string): string | undefined => {
    try {
      const cwd = readSmallFile(join(stateDir, 'cwd'), MAX_CWD_BYTES)?.replace(/\n$/, '');
      return cwd !== undefined && statSync(cwd).isDirectory() ? cwd : undefined;
    } catch {
      return undefined;
    }
  };

  const readCwd: Shell['readCwd'] = (name) =>
    findCwd(stateOf(name)) ?? findCwd(settings.stateDir) ?? settings.workspace;

  const chooseCwd = (workdir: string | undefined, name: string | undefined): string => {
    if (workdir === undefined) return readCwd(name);
    const inside =
      !workdir.startsWith('/') || workdir.startsWith('/workspace') || workdir.startsWith(settings.workspace);
    try {
      const path = inside
        ? withLocated(settings.workspace, workdir, (place) => join(settings.workspace, place.relative))
        : workdir;
      if (statSync(path).isDirectory()) return path;
    } catch {
      // reported below
    }
    throw new ExecutorError('input', 'ENOENT', `working directory does not exist: ${workdir}`);
  };

  const start: Shell['start'] = ({ command, workdir, stdin, persistState, pty, splitStderr, shell }) => {
    if (command.includes('\0')) throw new ExecutorError('input', 'EINVAL', 'the command holds a NUL character');
    const stateDir = stateOf(shell);
    const cwd = chooseCwd(workdir, shell);
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    const call = randomUUID();
    // in a file, because an argument of a program is limited to 128 KiB
    const file = join(settings.stateDir, `command.${call}`);
    writeFileSync(file, command, { mode: 0o600 });
    const variables: Record<string, string> = {
      __file: file,
      __call: call,
      __base: settings.stateDir,
      __keep: persistState ? '1' : '0',
      __processes: isUserShared() ? 'hard' : String(settings.maxProcesses),
      __memory: String(settings.maxMemoryMb * 1024),
      __file_kib: describeFileLimit(settings.volumeBytes - usedBytes()),
    };
    const assignments = Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
    const script = `${assignments.join('; ')}\n${buildPrelude(persistState, splitStderr === true)}`;
    const env = { ...baseEnv, CAPSTAN_STATE: stateDir, CAPSTAN_CALL: call };
    const [program, args]: [string, string[]] =
      pty === true ? ['script', ['-qefc', `exec bash -c "$CAPSTAN_SCRIPT"`, '/dev/null']] : ['bash', ['-c', script]];
    const child = spawn(program, args, {
      cwd,
      env: pty === true ? { ...env, CAPSTAN_SCRIPT: script, TERM: 'xterm' } : env,
      stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      detached: true,
    });
    child.once('exit', () => rmSync(file, { force: true }));
    return { child, cwd, mark: `CAPSTAN_CALL=${call}` };
  };
  return { start, readCwd };
}
