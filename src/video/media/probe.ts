import { probeClip } from './clip.ts';
import type { AudioFacts, VideoFacts } from './clip.ts';
import type { ReferenceKind } from './formats.ts';
import type { ImageFacts } from './image.ts';

type FactsByKind = { image: ImageFacts; video: VideoFacts; audio: AudioFacts };

/**
 * Probes a file that a caller sent: detects its type from its content, then reads pixels, duration, streams and codecs
 * in isolation with resource limits. Throws an `InvalidReferenceError` with a sentence for the caller if the file is
 * not clearly what it should be, and the signal's reason if it aborts.
 */
export async function probeReference<K extends ReferenceKind>(
  path: string,
  kind: K,
  options: { signal?: AbortSignal } = {},
): Promise<FactsByKind[K]> {
  // On first use: the image library adds noticeably to the start of a role.
  const facts =
    kind === 'image'
      ? await (await import('./image.ts')).probeImage(path, options.signal)
      : await probeClip(path, kind, options.signal);
  return facts as FactsByKind[K];
}
