// Tests: test/flow/rolling-upgrade.test.ts
import type { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;

/**
 * Keeps a closing server open until its clients have left, at most for `ms`. Each response of a closing server ends its
 * connection; a connection that is closed without one may fail a request that its client is just sending.
 */
export async function linger(server: Server, ms: number): Promise<void> {
  const deadline = performance.now() + ms;
  while (performance.now() < deadline && (await countConnections(server)) > 0) await sleep(POLL_MS);
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error === null ? count : 0)));
}
