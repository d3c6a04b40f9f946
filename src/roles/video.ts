import type { Registry } from 'prom-client';
import type { VideoPorts } from '../video/deps.ts';
import { buildVideoGenerator } from '../video/tool-client.ts';
import { openVideo, openVideoPorts } from '../video/open.ts';
import type { VideoOptions } from '../video/open.ts';
import { buildVideoServer } from '../video/server.ts';
import { omitUndefined } from '../platform/records.ts';
import type { StoredBackends } from './backends/stored.ts';
import { DRAIN_MS, readServerOptions, serve } from './role.ts';
import type { RoleContext, Started } from './role.ts';

function readOptions(context: RoleContext<StoredBackends>): VideoOptions {
  const { host, port, video } = context.config;
  const { settings, engines, concurrency, publicUrl } = video;
  return {
    engines,
    concurrency,
    // At each use: while the role starts, its own address may not be known yet.
    get base() {
      return publicUrl ?? context.address ?? `http://${host}:${port}`;
    },
    drainMs: DRAIN_MS,
    settings: { ...settings, publicUrl },
  };
}

export function openRenderer(context: RoleContext<StoredBackends>, registry?: Registry): Promise<VideoPorts> {
  const { backends, lifecycle, log } = context;
  const ports = { ...backends, log, ...omitUndefined({ registry }) };
  return openVideo(ports, readOptions(context), lifecycle);
}

/** Generates videos for agents. Another process may render them. */
export function openVideoGenerator(context: RoleContext<StoredBackends>) {
  const { backends, lifecycle, log } = context;
  const options = readOptions(context);
  return buildVideoGenerator(() => openVideoPorts({ ...backends, log }, options, lifecycle), options);
}

export async function startVideo(context: RoleContext<StoredBackends>): Promise<Started> {
  return serve(context, 'video', buildVideoServer(await openRenderer(context), readServerOptions(context)));
}
