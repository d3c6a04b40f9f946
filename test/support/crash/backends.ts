import { openPostgresDatabase } from '../database.ts';
import { findService } from '../find-service.ts';
import { MASTER_KEY } from '../vaults.ts';
import { S3_CREDENTIALS } from '../services/s3.ts';
import { findUnrest } from './rest.ts';
import type { Prepared } from './trial.ts';

export type SharedServices = { postgres: string; nats: string; redis: string; s3: string };

/** Undefined if one of them is not installed. */
export async function findShared(): Promise<SharedServices | undefined> {
  const [postgres, nats, redis, s3] = await Promise.all([
    findService('postgres'),
    findService('nats'),
    findService('redis'),
    findService('s3'),
  ]);
  if (postgres === undefined || nats === undefined || redis === undefined || s3 === undefined) return undefined;
  return { postgres, nats, redis, s3 };
}

/** A separate database for the trial; the other services are shared. Leases last 1 s, so that a death costs no more. */
export async function prepareShared(services: SharedServices | undefined): Promise<Prepared> {
  if (services === undefined) throw new Error('There are no shared services.');
  const database = await openPostgresDatabase(services.postgres, { poolSize: 1 });
  return {
    env: {
      DATABASE_URL: database.url,
      NATS_URL: services.nats,
      REDIS_URL: services.redis,
      CAPSTAN_OBJECTS: services.s3,
      AWS_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
      CAPSTAN_MASTER_KEY: MASTER_KEY,
      CAPSTAN_LEASE_SECONDS: '1',
      CAPSTAN_DATABASE_POOL: '4',
    },
    check: () => findUnrest(database.db),
    close: () => database.close(),
  };
}
