import type { Bus, Subscription } from './bus.ts';

const KEYS = 'capstan.keys';

/** Tells every replica that keys have changed. */
export function sendKeysChanged(bus: Bus): void {
  bus.send(KEYS, {});
}

export function onKeysChanged(bus: Bus, handler: () => void): Promise<Subscription> {
  return bus.subscribe(KEYS, handler);
}
