import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildApi } from './chat.ts';
import { spawnServer } from './crash/server.ts';
import type { ServerProcess } from './crash/server.ts';
import { makeScratch } from './scratch.ts';

const KEY = 'cap_key_of_a_server_that_is_killed';

/** A server on embedded backends that a test kills and starts again on the same data. */
export async function openRestarts(name: string) {
  const folder = makeScratch(name);
  const servers: ServerProcess[] = [];
  mkdirSync(join(folder, 'tmp'));
  return {
    folder,
    async start() {
      const env = {
        TMPDIR: join(folder, 'tmp'),
        CAPSTAN_DATA_DIR: folder,
        CAPSTAN_API_KEY: KEY,
        // Soon over for whoever takes the session, and long enough for a busy machine.
        CAPSTAN_LEASE_SECONDS: '3',
      };
      const server = spawnServer({ role: 'all', env });
      servers.push(server);
      const ready = await server.ready;
      if (!('url' in ready)) throw new Error(server.output());
      return { server, url: ready.url, api: buildApi(ready.url, KEY, 'script/demo') };
    },
    async close() {
      for (const server of servers) server.signal('SIGKILL');
      await Promise.all(servers.map(({ ended }) => ended));
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
export type Restarts = Awaited<ReturnType<typeof openRestarts>>;
