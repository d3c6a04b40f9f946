import { join } from 'node:path';

import { connect } from 'nats';

import { findFreePort, findProgram, startServer } from './process.ts';
import type { Service } from './process.ts';
import { makeScratch } from '../scratch.ts';

/** Undefined when nats-server is not installed. JetStream is on. A given port lets a test bring a server back. */
export async function startNats(options: { port?: number } = {}): Promise<Service | undefined> {
  const command = findProgram('nats-server');
  if (command === undefined) return undefined;
  const scratch = makeScratch('nats');
  const port = options.port ?? (await findFreePort());
  const url = `nats://127.0.0.1:${port}`;
  return startServer({
    command,
    args: ['-a', '127.0.0.1', '-p', `${port}`, '-js', '-sd', join(scratch, 'jetstream')],
    scratch,
    url,
    ready: async () => {
      const connection = await connect({ servers: url, reconnect: false, timeout: 1_000 });
      try {
        await (await connection.jetstreamManager()).getAccountInfo();
      } finally {
        await connection.close();
      }
    },
  });
}
