import { buildChange } from './change.ts';
import type { Bus, Subscription } from './bus.ts';

const keysChanged = buildChange<Record<string, never>>('capstan.keys');

/** Tells every replica that keys have changed. */
export function sendKeysChanged(bus: Bus): void {
  keysChanged.send(bus, {});
}

export function onKeysChanged(bus: Bus, handler: () => void): Promise<Subscription> {
  return keysChanged.subscribe(bus, handler);
}
