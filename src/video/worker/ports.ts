import type { Bus } from '../../platform/bus/bus.ts';
import type { Db } from '../../platform/db/db.ts';
import type { Objects } from '../../platform/objects/objects.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/log.ts';
import type { MasterKeys } from '../../platform/master-key.ts';
import type { Models } from '../deps.ts';
import type { VideoQueue } from '../jobs/queue.ts';
import type { VideoSettings } from '../settings.ts';

/** What the worker needs from outside. */
export type VideoWorkerPorts = {
  db: Db;
  bus: Bus;
  objects: Objects;
  egress: Egress;
  masterKeys: MasterKeys;
  queue: VideoQueue;
  models: Models;
  settings: VideoSettings;
  log: Logger;
};
