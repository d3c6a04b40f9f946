import type { Bus, Subscription } from '../platform/bus/bus.ts';

const RENDERS = 'capstan.video.queued';
const RENDER_ENDED = 'capstan.video.ended';

/** Notifies all video workers of new renders. A lost message is covered by polling the queue. */
export function sendRendersQueued(bus: Bus): void {
  bus.send(RENDERS, {});
}

export function onRendersQueued(bus: Bus, handler: () => void): Promise<Subscription> {
  return bus.subscribe(RENDERS, handler);
}

/** Notifies the worker of a cancelled generation. A lost message is covered by its next heartbeat. */
export function sendRenderEnded(bus: Bus, generationId: string): void {
  bus.send(RENDER_ENDED, { generationId });
}

export function onRenderEnded(bus: Bus, handler: (generationId: string) => void): Promise<Subscription> {
  return bus.subscribe(RENDER_ENDED, ({ data }) => handler((data as { generationId: string }).generationId));
}
