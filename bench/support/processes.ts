import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

/** Measured processes run on one core, the load and the upstream on the other. */
export const GATEWAY_CORE = 0;
export const LOAD_CORE = 1;

/** Binds a process and its future children to one core; false if that is not possible. */
export function pin(pid: number, core: number): boolean {
  try {
    execFileSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export function listTree(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // It has just ended.
    }
  }
  const collect = (each: number): number[] => [each, ...(children.get(each) ?? []).flatMap(collect)];
  return collect(pid);
}

/** Milliseconds of processor time of a process without its children, in steps of 10. */
export function readOwnCpu(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The same with its children. */
export function readCpu(pid: number): number {
  return listTree(pid).reduce((sum, each) => sum + readOwnCpu(each), 0);
}

function sumStatus(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  return listTree(pid).reduce((sum, each) => {
    const line = readFileSync(`/proc/${each}/status`, 'utf8')
      .split('\n')
      .find((text) => text.startsWith(`${field}:`));
    return sum + Number(/\d+/.exec(line ?? '')?.[0] ?? 0) / 1024;
  }, 0);
}

/** Resident MiB of a process and its children. */
export function readResident(pid: number): number {
  return sumStatus(pid, 'VmRSS');
}

/** The most MiB that a process and its present children have had resident, each by itself. */
export function readPeak(pid: number): number {
  return sumStatus(pid, 'VmHWM');
}

export async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Starts a third-party server. Resolves once it answers on its port; undefined if it ends or does not answer within a
 * minute or two.
 */
export async function startForeign(
  command: string,
  args: readonly string[],
  { url, env = {} }: { url: string; env?: Record<string, string> },
): Promise<ChildProcess | undefined> {
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: 'ignore',
  });
  const ended = new AbortController();
  child.once('error', () => ended.abort());
  child.once('exit', () => ended.abort());
  for (let attempt = 0; attempt < 240 && !ended.signal.aborted; attempt += 1) {
    const answers = await fetch(url).then(
      () => true,
      () => false,
    );
    if (answers) return child;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  child.kill('SIGKILL');
  return undefined;
}
