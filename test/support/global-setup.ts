import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import type { TestProject } from 'vitest/node';
import { startKubernetes } from './services/kubernetes.ts';
import { startNats } from './services/nats.ts';
import { startPostgres } from './services/postgres.ts';
import type { Service } from './services/process.ts';
import { startRedis } from './services/redis.ts';
import { startS3 } from './services/s3.ts';
import { migrateTemplate } from './template.ts';

declare module 'vitest' {
  interface ProvidedContext {
    servicesUrl: string;
  }
}

async function startMigratedPostgres(): Promise<Service | undefined> {
  const service = await startPostgres();
  if (service) await migrateTemplate(service.url);
  return service;
}

const STARTERS: Record<string, () => Promise<Service | undefined>> = {
  postgres: startMigratedPostgres,
  nats: startNats,
  redis: startRedis,
  s3: startS3,
  kubernetes: () => startKubernetes(),
};

const started = new Map<string, Promise<Service | undefined>>();

const server = createServer((request, response) => {
  const name = request.url?.slice(1) ?? '';
  const starting = started.get(name) ?? STARTERS[name]?.();
  if (starting) started.set(name, starting);
  const answer = async () => {
    try {
      const service = await starting;
      response.writeHead(service ? 200 : 204).end(service?.url);
    } catch (error) {
      response.writeHead(500).end(error instanceof Error ? error.message : String(error));
    }
  };
  void answer();
});

const PREPARE = fileURLToPath(new URL('../../scripts/prepare-database.ts', import.meta.url));

/**
 * Real servers for a test run, each started when the first test file asks for it (`findService`), so that a run of unit
 * tests alone starts none. All are ended with the run.
 */
export async function setup(project: TestProject): Promise<void> {
  // Every embedded database of the run is a copy of it.
  await promisify(execFile)(process.execPath, [PREPARE]);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project.provide('servicesUrl', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

export async function teardown(): Promise<void> {
  server.close();
  server.closeAllConnections();
  const services = await Promise.allSettled(started.values());
  for (const service of services) if (service.status === 'fulfilled') await service.value?.stop();
}
