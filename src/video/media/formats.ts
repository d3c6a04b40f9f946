/** The accepted media types, detected from content. None of them can refer to other files, as playlists and SVG do. */
export type ReferenceKind = 'image' | 'video' | 'audio';

/** libvips' name of the format by detected media type. */
export const IMAGE_FORMATS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'heif',
};

/** ffmpeg's demuxer by media type. It is always named, so that ffmpeg never guesses one from the content. */
const DEMUXERS: Readonly<Record<string, { demuxer: string; kinds: readonly ReferenceKind[] }>> = {
  'video/mp4': { demuxer: 'mov', kinds: ['video', 'audio'] },
  'video/x-m4v': { demuxer: 'mov', kinds: ['video'] },
  'video/quicktime': { demuxer: 'mov', kinds: ['video'] },
  'video/webm': { demuxer: 'matroska', kinds: ['video', 'audio'] },
  'video/matroska': { demuxer: 'matroska', kinds: ['video', 'audio'] },
  'video/x-matroska': { demuxer: 'matroska', kinds: ['video', 'audio'] },
  'audio/mp4': { demuxer: 'mov', kinds: ['audio'] },
  'audio/x-m4a': { demuxer: 'mov', kinds: ['audio'] },
  'audio/mpeg': { demuxer: 'mp3', kinds: ['audio'] },
  'audio/wav': { demuxer: 'wav', kinds: ['audio'] },
  'audio/aac': { demuxer: 'aac', kinds: ['audio'] },
  'audio/ogg': { demuxer: 'ogg', kinds: ['audio'] },
  'audio/ogg; codecs=opus': { demuxer: 'ogg', kinds: ['audio'] },
  'audio/opus': { demuxer: 'ogg', kinds: ['audio'] },
  'audio/flac': { demuxer: 'flac', kinds: ['audio'] },
  'audio/x-flac': { demuxer: 'flac', kinds: ['audio'] },
};

/** Codecs by ffprobe's names, and the allowed decoders for each. */
const VIDEO_CODECS: Readonly<Record<string, readonly string[]>> = {
  h264: ['h264'],
  hevc: ['hevc'],
  vp8: ['vp8', 'libvpx'],
  vp9: ['vp9', 'libvpx-vp9'],
  av1: ['libdav1d', 'av1', 'libaom-av1'],
  mpeg4: ['mpeg4'],
};
const AUDIO_CODECS: Readonly<Record<string, readonly string[]>> = {
  aac: ['aac'],
  mp3: ['mp3float', 'mp3'],
  opus: ['opus', 'libopus'],
  vorbis: ['vorbis', 'libvorbis'],
  flac: ['flac'],
  alac: ['alac'],
  pcm_u8: ['pcm_u8'],
  pcm_s16le: ['pcm_s16le'],
  pcm_s24le: ['pcm_s24le'],
  pcm_s32le: ['pcm_s32le'],
  pcm_f32le: ['pcm_f32le'],
};

/** The formats that we write ourselves and read again. */
const OWN_DECODERS = ['png', 'mjpeg', 'libwebp', 'webp', 'wrapped_avframe', 'rawvideo'];
const DECODERS = [VIDEO_CODECS, AUDIO_CODECS].flatMap((codecs) => Object.values(codecs).flat());
const CODEC_WHITELIST = [...DECODERS, ...OWN_DECODERS].join(',');

export function findDemuxer(mime: string, kind: ReferenceKind): string | undefined {
  const entry = DEMUXERS[mime];
  return entry?.kinds.includes(kind) === true ? entry.demuxer : undefined;
}

export function isCodecAllowed(codec: string, kind: 'video' | 'audio'): boolean {
  return Object.hasOwn(kind === 'video' ? VIDEO_CODECS : AUDIO_CODECS, codec);
}

/**
 * Options of ffmpeg and ffprobe that restrict them to one file: no other protocol, a fixed demuxer, known decoders
 * only, and no files that the file refers to. `--` is not needed, because the path follows `file:`.
 */
export function buildInputArguments(path: string, demuxer: string): string[] {
  return [
    ['-protocol_whitelist', 'file,pipe', '-codec_whitelist', CODEC_WHITELIST],
    demuxer === 'mov' ? ['-enable_drefs', '0', '-use_absolute_path', '0'] : [],
    ['-f', demuxer, '-i', `file:${path}`],
  ].flat();
}
