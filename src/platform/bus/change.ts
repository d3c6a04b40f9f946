import type { Bus, Subscription } from './bus.ts';

/**
 * A change that makes cached values stale. The handlers of this process run inside `send`, so that the next request sees the
 * change; those of other processes run when the bus delivers it. A handler may run twice for one change.
 */
export type Change<T extends object> = {
  send(bus: Bus, data: T): void;
  subscribe(bus: Bus, handler: (data: T) => void): Promise<Subscription>;
};

export function buildChange<T extends object>(subject: string): Change<T> {
  const handlersByBus = new WeakMap<Bus, Set<(data: T) => void>>();
  return {
    send(bus, data) {
      for (const handler of handlersByBus.get(bus) ?? []) handler(data);
      bus.send(subject, data);
    },
    async subscribe(bus, handler) {
      const subscription = await bus.subscribe(subject, ({ data }) => handler(data as T));
      const handlers = handlersByBus.get(bus) ?? new Set();
      handlersByBus.set(bus, handlers);
      // A function of its own, so that a handler that subscribes twice is removed once.
      const own = (data: T) => handler(data);
      handlers.add(own);
      return {
        close() {
          handlers.delete(own);
          subscription.close();
        },
      };
    },
  };
}
