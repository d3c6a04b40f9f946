import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { findFreePort, findProgram, startServer } from './process.ts';
import type { Service } from './process.ts';
import { makeScratch } from '../scratch.ts';

export const S3_CREDENTIALS = { accessKeyId: 'capstan', secretAccessKey: 'capstan-secret' };

/** Undefined when versitygw is not installed. The URL names a bucket `capstan`, which is not made yet. */
export async function startS3(): Promise<Service | undefined> {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const command = findProgram('versitygw', join(cache, 'capstan/bin/versitygw'));
  if (command === undefined) return undefined;
  const scratch = makeScratch('s3');
  const port = await findFreePort();
  const endpoint = `http://127.0.0.1:${port}`;
  for (const folder of ['objects', 'sidecar']) mkdirSync(join(scratch, folder));
  const { accessKeyId, secretAccessKey } = S3_CREDENTIALS;
  const options =
    `--port 127.0.0.1:${port} --access ${accessKeyId} --secret ${secretAccessKey} --region us-east-1 ` +
    `--health /health --quiet posix --sidecar ${join(scratch, 'sidecar')} ${join(scratch, 'objects')}`;
  return startServer({
    command,
    args: options.split(' '),
    scratch,
    url: `s3://capstan?endpoint=${encodeURIComponent(endpoint)}&region=us-east-1`,
    ready: async () => {
      const response = await fetch(`${endpoint}/health`);
      if (!response.ok) throw new Error(`status ${response.status}`);
    },
  });
}
