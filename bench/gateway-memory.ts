import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { openPostgres } from '../src/platform/db/postgres.ts';
import { createKey } from '../src/platform/store/keys.ts';
import { runMigrations } from '../src/platform/store/migrate.ts';
import { makeScratch } from '../test/support/scratch.ts';
import { S3_CREDENTIALS, startS3 } from '../test/support/services/s3.ts';
import { openGatewayParts } from './support/gateway-parts.ts';
import { printMachine } from './support/figures.ts';
import { openLoad } from './support/load.ts';
import { readResident } from './support/processes.ts';
import { startRole } from './support/server.ts';
import { startStacks } from './support/stacks.ts';
import { NEEDS, requireFound } from './support/needs.ts';

/**
 * Measures the resident memory of the role `gateway` on PostgreSQL, NATS, Redis and S3 over 100,000 requests, half of
 * them streams, and with 1,000 open, silent streams.
 * `node bench/gateway-memory.ts [requests] [streams] [NODE_OPTIONS]`
 * Needs: PostgreSQL, NATS, Redis and an S3 server (make services).
 */
const REQUESTS = Number(process.argv[2] ?? 100_000);
const STREAMS = Number(process.argv[3] ?? 1000);
const STEPS = 10;
const WIDTH = 32;

printMachine();
const objects = requireFound(await startS3(), NEEDS.servers);
const [, found] = await startStacks();
if (found === undefined) await objects.stop();
const stack = requireFound(found, NEEDS.servers);
const parts = openGatewayParts();
const upstream = await parts.start('upstream');
const s3 = new S3Client({
  endpoint: new URL(objects.url).searchParams.get('endpoint')!,
  region: 'us-east-1',
  forcePathStyle: true,
  credentials: S3_CREDENTIALS,
});
await s3.send(new CreateBucketCommand({ Bucket: 'capstan' }));
const db = await openPostgres({ url: stack.env['DATABASE_URL']! });
await runMigrations(db);
const { key } = await createKey(db, {
  name: 'b',
  organization: 'default',
  scopes: ['inference'],
  requestsPerMinute: 10_000_000,
});
await db.close();
const scratch = makeScratch('bench-gateway');
const config = join(scratch, 'capstan.yaml');
const provider = (more: string) => `{ format: chat-completions, baseUrl: "${upstream.url}/v1"${more} }`;
writeFileSync(config, `providers:\n  up: ${provider('')}\n  straight: ${provider(', passThrough: true')}\n`);
const role = await startRole('gateway', {
  ...stack.env,
  CAPSTAN_CONFIG: config,
  CAPSTAN_DATA_DIR: scratch,
  CAPSTAN_MASTER_KEY: Buffer.alloc(32).toString('base64'),
  CAPSTAN_OBJECTS: objects.url,
  AWS_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
  NODE_OPTIONS: process.argv[4] ?? '',
});
const gateway = { url: role.url, pid: role.child.pid ?? 0, key };
const load = openLoad(WIDTH);
const buildBody = (model: string, text: string) => (stream: boolean) =>
  JSON.stringify({ model, stream, max_tokens: 9, messages: [{ role: 'user', content: text }] });
const headers = { authorization: `Bearer ${gateway.key}` };
const paths = [
  { name: 'chat', url: `${gateway.url}/v1/chat/completions`, headers, body: buildBody('up/small', 'short') },
  { name: 'straight', url: `${gateway.url}/v1/chat/completions`, headers, body: buildBody('straight/small', 'short') },
  { name: 'messages', url: `${gateway.url}/v1/messages`, headers, body: buildBody('up/small', 'short') },
];
const show = (what: string) => console.log(`| ${what} | ${Math.round(readResident(gateway.pid))} MiB |`);

console.log('\n| | resident |\n|---|---|');
show('at the start');
for (let step = 1; step <= STEPS; step += 1) {
  let left = REQUESTS / STEPS;
  await Promise.all(
    Array.from({ length: WIDTH }, async () => {
      while (left-- > 0) await load.call(paths[left % paths.length]!, left % 2 === 0);
    }),
  );
  show(`after ${((REQUESTS / STEPS) * step).toLocaleString('en')} requests`);
}
await load.close();

const streams: IncomingMessage[] = [];
for (let index = 0; index < STREAMS; index += 50) {
  await Promise.all(
    Array.from({ length: Math.min(50, STREAMS - index) }, async () => {
      const open = request(paths[0]!.url, {
        method: 'POST',
        agent: false,
        headers: { ...headers, 'content-type': 'application/json' },
      });
      open.end(buildBody('up/small', 'silent')(true));
      const [response] = (await once(open, 'response')) as [IncomingMessage];
      response.resume();
      streams.push(response);
    }),
  );
}
show(`with ${streams.length.toLocaleString('en')} silent streams beside`);
for (const stream of streams) stream.destroy();
parts.close();
role.child.kill();
await Promise.all([stack.close(), objects.stop()]);
