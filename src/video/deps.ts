import type { Objects } from '../platform/objects/objects.ts';
import type { Egress } from '../platform/egress/egress.ts';
import type { HttpDeps, HttpPorts } from '../platform/http/deps.ts';
import type { MasterKeys } from '../platform/master-key.ts';
import type { Engine, ModelCapabilities } from './engines/engine.ts';
import type { Submitter } from './generations/submitter.ts';
import type { VideoQueue } from './jobs/queue.ts';
import type { VideoSettings } from './settings.ts';

/** A model, its engine and what it costs here. */
export type OfferedModel = { capabilities: ModelCapabilities; engine: Engine };

/** What the video service needs from outside. */
export type VideoPorts = HttpPorts & {
  objects: Objects;
  egress: Egress;
  masterKeys: MasterKeys;
  queue: VideoQueue;
  submitter: Submitter;
  models: Models;
  settings: VideoSettings;
};

/** What every handler gets. */
export type VideoDeps = VideoPorts & HttpDeps;

export type Models = {
  /** The models may change: some engines list theirs at run time. */
  list(): Promise<OfferedModel[]>;
  find(name: string): Promise<OfferedModel | undefined>;
};

/** The models of all engines. */
export function buildModels(engines: readonly Engine[]): Models {
  const list = async () => {
    const lists = await Promise.all(
      engines.map(async (engine) => (await engine.models()).map((capabilities) => ({ capabilities, engine }))),
    );
    return lists.flat();
  };
  return { list, find: async (name) => (await list()).find(({ capabilities }) => capabilities.name === name) };
}
