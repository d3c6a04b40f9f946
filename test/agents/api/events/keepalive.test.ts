import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMemoryBus } from '../../../../src/platform/bus/memory.ts';
import { openFiles } from '../../../../src/platform/objects/files.ts';
import { openStream } from '../../../../src/agents/api/events/stream/client-stream.ts';
import { openEmbeddedDatabase } from '../../../support/database.ts';
import type { TestDatabase } from '../../../support/database.ts';
import { makeScratch } from '../../../support/scratch.ts';
import { openClient } from './client.ts';

let database: TestDatabase;
const scratch = makeScratch('keepalive');
beforeAll(async () => {
  database = await openEmbeddedDatabase();
});
afterAll(async () => {
  await database.close();
  rmSync(scratch, { recursive: true, force: true });
});

test('a silent stream is kept alive by a comment within every fifteen seconds', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const opening = openClient({ url, key: '', sessionId: 'ses_1' });
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  response.writeHead(200).flushHeaders();
  const ports = {
    db: database.db,
    bus: openMemoryBus(),
    objects: await openFiles({ dir: scratch }),
    log: pino({ level: 'silent' }),
  };
  const stream = openStream(
    ports,
    { organizationId: 'org_1', sessionId: 'ses_1', grant: { credentialId: 'key_1', grantedScopes: [] } },
    response,
  );
  const client = await opening;
  await stream.start({ after: 0, cursor: undefined });
  const now = performance.now();
  stream.tick(now + 10_000);
  stream.take({ kind: 'event', sequence: 1, id: 'evt_1', frame: 'data: {}\n\n' });
  await client.until(1);
  expect(client.comments).toEqual([]);
  stream.tick(now + 15_000);
  await expect.poll(() => client.comments).toEqual(['']);
  stream.end();
  await client.ended;
  server.close();
});
