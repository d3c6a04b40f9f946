import { connect } from 'node:net';

import { findFreePort, findProgram, startServer } from './process.ts';
import type { Service } from './process.ts';
import { makeScratch } from '../scratch.ts';

/** Undefined when redis-server is not installed. A given port lets a test bring a server back. */
export async function startRedis(options: { port?: number } = {}): Promise<Service | undefined> {
  const command = findProgram('redis-server', 'valkey-server');
  if (command === undefined) return undefined;
  const scratch = makeScratch('redis');
  const port = options.port ?? (await findFreePort());
  return startServer({
    command,
    args: ['--bind', '127.0.0.1', '--port', `${port}`, '--save', '', '--appendonly', 'no', '--dir', scratch],
    scratch,
    url: `redis://127.0.0.1:${port}`,
    ready: () =>
      new Promise((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
        socket.once('error', reject);
        socket.once('data', (data) => {
          socket.destroy();
          if (data.toString().startsWith('+PONG')) resolve();
          else reject(new Error(data.toString()));
        });
      }),
  });
}
