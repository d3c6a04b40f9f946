// Tests: test/gateway/hooks.test.ts
import type { ModelReply } from '../inference/model.ts';
import { decideFault } from './errors.ts';
import type { Meter } from './usage/meter.ts';

/** What follows a reply to its end. */
export type ReplyWatch = {
  meter: Meter;
  /** called with the whole reply before its last event is sent; its error ends the call */
  check?: ((reply: ModelReply) => Promise<unknown>) | undefined;
};

/** Checks a whole reply and meters it. A refused reply has cost what it has cost; its outcome is the refusal's code. */
export async function finishReply({ meter, check }: ReplyWatch, reply: ModelReply): Promise<void> {
  try {
    await check?.(reply);
  } catch (error) {
    meter.finish(reply, decideFault(error, 0).code);
    throw error;
  }
  meter.finish(reply);
}
