import { execFile } from 'node:child_process';
import { chownSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { Client } from 'pg';

import { findFreePort, findProgram, startServer } from './process.ts';
import type { Service } from './process.ts';
import { makeScratch } from '../scratch.ts';

const run = promisify(execFile);

function findBinaries(): string | undefined {
  const versions = (() => {
    try {
      return readdirSync('/usr/lib/postgresql').sort((a, b) => Number(b) - Number(a));
    } catch {
      return [];
    }
  })();
  const initdb = findProgram(...versions.map((version) => `/usr/lib/postgresql/${version}/bin/initdb`), 'initdb');
  return initdb?.replace(/\/initdb$/, '');
}

/** PostgreSQL refuses to run as root; then it runs as `postgres`, or as `nobody`. */
function findUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = users.find((user) => user.startsWith('postgres:')) ?? users.find((user) => user.startsWith('nobody:'));
  const [, , uid, gid] = (line ?? '').split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

/** Undefined when PostgreSQL is not installed. Its data lives as long as it runs: nothing is synced to disk. */
export async function startPostgres(): Promise<Service | undefined> {
  const binaries = findBinaries();
  if (binaries === undefined) return undefined;
  const scratch = makeScratch('postgres');
  const data = join(scratch, 'data');
  const user = findUser();
  if (user) chownSync(scratch, user.uid, user.gid);
  await run(join(binaries, 'initdb'), ['-D', data, ...'-U capstan -A trust -N -E UTF8 --locale=C'.split(' ')], {
    cwd: scratch,
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
    ...user,
  });
  const port = await findFreePort();
  const settings =
    `listen_addresses=127.0.0.1 port=${port} unix_socket_directories=${scratch} max_connections=200 fsync=off ` +
    `full_page_writes=off synchronous_commit=off autovacuum=off log_min_messages=fatal`;
  const url = `postgres://capstan@127.0.0.1:${port}/postgres`;
  return startServer({
    command: join(binaries, 'postgres'),
    args: ['-D', data, ...settings.split(' ').flatMap((setting) => ['-c', setting])],
    user,
    scratch,
    url,
    signal: 'SIGQUIT',
    ready: async () => {
      const client = new Client({ connectionString: url });
      client.on('error', () => {});
      await client.connect();
      await client.end();
    },
  });
}
