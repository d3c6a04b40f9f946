import type { Bus } from '../../../../src/platform/bus/bus.ts';

/**
 * A real bus with unreliable delivery: a tenth of messages is lost, a tenth arrives twice, and each is late by 0 to 15
 * ms, so that events overtake each other. Deltas are lost and late too, but stay in order, like those of one sender.
 */
export function makeFlaky(bus: Bus, random: () => number): Bus {
  return {
    ...bus,
    subscribe: (subject, handler, options) => {
      let lastDelta = Promise.resolve();
      const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
      return bus.subscribe(
        subject,
        (message) => {
          const fate = random();
          if (fate < 0.1) return;
          if (message.subject.includes('.deltas.')) {
            lastDelta = Promise.all([lastDelta, wait(random() * 15)]).then(() => handler(message));
            return;
          }
          setTimeout(() => handler(message), random() * 15);
          if (fate < 0.2) setTimeout(() => handler(message), random() * 15);
        },
        options,
      );
    },
  };
}
