import { probeClip } from './clip.ts';
import type { AudioFacts, VideoFacts } from './clip.ts';
import type { ReferenceKind } from './formats.ts';
import { probeImage } from './image.ts';
import type { ImageFacts } from './image.ts';

type FactsByKind = { image: ImageFacts; video: VideoFacts; audio: AudioFacts };

/**
 * Looks at a file that a caller sent: its kind by its bytes, then its pixels, seconds, streams and codecs by what reads
 * them, without network, behind limits. Throws an `InvalidReferenceError` with a sentence fit for the caller for anything
 * that is not plainly what it should be, and the signal's reason when it aborts.
 */
export async function probeReference<K extends ReferenceKind>(
  path: string,
  kind: K,
  options: { signal?: AbortSignal } = {},
): Promise<FactsByKind[K]> {
  const facts = kind === 'image' ? await probeImage(path, options.signal) : await probeClip(path, kind, options.signal);
  return facts as FactsByKind[K];
}
