import { join } from 'node:path';
import { openFiles } from '../../platform/objects/files.ts';
import type { Objects } from '../../platform/objects/objects.ts';
import type { Config } from '../config/config.ts';
import { deriveKey } from '../../platform/crypto.ts';
import type { BareContext } from '../context.ts';
import type { OpeningDatabase } from './database.ts';
import { openPart, openShared, readMasterKey } from './shared.ts';

/** The backends of a role that keeps objects. */
export type StoredBackends = Awaited<ReturnType<typeof openStored>>;

export async function openStored(context: BareContext, database: OpeningDatabase) {
  const { config, lifecycle } = context;
  const [shared, objects] = await Promise.all([
    openShared(context, database),
    openPart('CAPSTAN_OBJECTS', () => openObjects(config)),
  ]);
  lifecycle.use('objects', objects);
  return { ...shared, objects };
}

async function openObjects(config: Config): Promise<Objects> {
  const { objectsUrl: url, dataDir } = config;
  const signingKey = deriveKey(readMasterKey(config), 'signed addresses of objects');
  if (url !== undefined) return (await import('../../platform/objects/s3.ts')).openS3({ url, signingKey });
  return openFiles({ dir: join(dataDir, 'objects'), signingKey, floor: config.storageFloor });
}
