// Tests: test/login/inbound.test.ts, test/login/email.test.ts
import { setTimeout as sleep } from 'node:timers/promises';
import type { Site } from '../site.ts';
import { pickAnswer } from './email.ts';
import type { Email } from './email.ts';
import type { Found } from './port.ts';

const POLL_EVERY_MS = 700;

export type Search = { wanted: 'code' | 'link'; withinMs: number; site: Site; signal: AbortSignal };

/** Messages that were taken from a mailbox since the last poll, or why it cannot be read. */
export type Taken = readonly Email[] | Extract<Found, { failure: unknown }>;

/**
 * Polls until a message holds what is wanted, at most `withinMs`. `seen` holds the messages of earlier polls; they
 * count as well, until one has answered. Throws the signal's reason.
 */
export async function pollForAnswer(
  take: () => Promise<Taken>,
  seen: Email[],
  { wanted, withinMs, site, signal }: Search,
): Promise<Found> {
  const end = performance.now() + withinMs;
  for (;;) {
    const taken = await take();
    if ('failure' in taken) return taken;
    seen.push(...taken);
    const answer = pickAnswer(seen, wanted, site);
    if (answer !== undefined) {
      seen.length = 0;
      return answer;
    }
    if (performance.now() >= end) return { failure: 'nothing' };
    await sleep(POLL_EVERY_MS, undefined, { signal });
  }
}
