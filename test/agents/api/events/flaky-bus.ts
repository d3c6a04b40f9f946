import type { Bus } from '../../../../src/platform/bus/bus.ts';

/** Deterministic numbers from 0 to 1. */
export function buildRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

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
