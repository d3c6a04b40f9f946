import { setTimeout as sleep } from 'node:timers/promises';
import { GenerationCreate } from './contract/generations.ts';
import { describeIssues } from '../platform/contract/validation.ts';
import { findGeneration } from './store/generations.ts';
import type { StoredGeneration } from './store/generations.ts';
import type { VideoPorts } from './deps.ts';
import { VideoApiError } from './errors.ts';
import { cancelGeneration } from './generations/cancel.ts';
import { buildGenerations } from './generations/generation-record.ts';
import { submitGenerations } from './generations/submit.ts';

/** Interval between two polls of a generation. */
const POLL_MS = 500;

type VideoToolInput = { prompt: string; model?: string; aspectRatio?: string; duration?: string; resolution?: string };
type VideoToolResult = { video: Record<string, unknown> } | { fault: string };

/**
 * Generates videos for the agent's tool, inside the process, and waits for them. `open` is called at the first use. URLs in
 * the result begin with the value of `at.base` at that time.
 */
export function buildVideoGenerator(open: () => Promise<VideoPorts>, at: { readonly base: string }) {
  let opened: Promise<VideoPorts> | undefined;
  return {
    async generate(
      organizationId: string,
      callId: string,
      wanted: VideoToolInput,
      signal: AbortSignal,
    ): Promise<VideoToolResult> {
      opened ??= open().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      const ports = await opened;
      const [first] = await ports.models.list();
      const { model = first?.capabilities.name, ...rest } = wanted;
      const body = GenerationCreate.safeParse({ ...rest, modelName: model });
      if (!body.success) return { fault: describeIssues(body.error) };
      try {
        const idempotencyKey = `tool/${callId}`;
        const { data } = await submitGenerations(ports, { organizationId, body: body.data, idempotencyKey });
        const ended = await waitForEnd(ports, organizationId, data.generations[0]?.id ?? '', signal);
        if (ended.state === 'failed') return { fault: ended.error ?? 'The video could not be generated.' };
        const [made] = await buildGenerations(ports, at.base, [ended]);
        const { id, video_url, share_url, duration, width, height } = made!;
        return { video: { id, share_url, video_url, duration, width, height } };
      } catch (error) {
        if (error instanceof VideoApiError) return { fault: error.message };
        throw error;
      }
    },
  };
}

/** Polls until the generation ends. Deadlines and the sweep guarantee that it does. */
async function waitForEnd(
  ports: VideoPorts,
  organizationId: string,
  id: string,
  signal: AbortSignal,
): Promise<StoredGeneration> {
  for (;;) {
    const generation = await findGeneration(ports.db, organizationId, id);
    if (generation === undefined) throw new Error('The generation is gone.');
    if (generation.state === 'completed' || generation.state === 'failed') return generation;
    if (signal.aborted) {
      await cancelGeneration(ports, generation);
      throw signal.reason;
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
