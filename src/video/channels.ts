import type { Bus, Subscription } from '../platform/bus/bus.ts';

const RENDERS = 'capstan.video.queued';
const RENDER_ENDED = 'capstan.video.ended';

/** Tells every worker of the video role that there is something to render; a slow look at the queue covers a loss. */
export function sendRendersQueued(bus: Bus): void {
  bus.send(RENDERS, {});
}

export function onRendersQueued(bus: Bus, handler: () => void): Promise<Subscription> {
  return bus.subscribe(RENDERS, handler);
}

/** Tells the worker that renders a generation that it was cancelled; it notices at its next heartbeat anyhow. */
export function sendRenderEnded(bus: Bus, generationId: string): void {
  bus.send(RENDER_ENDED, { generationId });
}

export function onRenderEnded(bus: Bus, handler: (generationId: string) => void): Promise<Subscription> {
  return bus.subscribe(RENDER_ENDED, ({ data }) => handler((data as { generationId: string }).generationId));
}
