import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Ready } from '../gateway-server.ts';

/** Upstreams, gateways and floors of the measurements, each a process of its own. */
export function openGatewayParts() {
  const children: ChildProcess[] = [];
  return {
    async start(...args: string[]): Promise<Ready & { pid: number }> {
      const child = fork(new URL('../gateway-server.ts', import.meta.url), args);
      children.push(child);
      const [ready] = (await once(child, 'message')) as [Ready];
      return { ...ready, pid: child.pid ?? 0 };
    },
    close(): void {
      for (const child of children) child.kill();
    },
  };
}
