/** What callers may send, told by the bytes. Nothing that names other files is among it: no playlist, no SVG. */
export type ReferenceKind = 'image' | 'video' | 'audio';

/** libvips' name of the format by the media type that the bytes begin like. */
export const IMAGE_FORMATS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'heif',
};

/** ffmpeg's demuxer by media type: it is named, so ffmpeg never guesses one from what is inside. */
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

/** Codecs as ffprobe names them, and the decoders that may read them. */
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

/** What we write ourselves and read again. */
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
 * Options of ffmpeg and ffprobe that read one file and nothing beside it: no other protocol, the demuxer named, known
 * decoders only, and no file that the file itself refers to. `--` of its own is not needed, as the path is behind `file:`.
 */
export function buildInputArguments(path: string, demuxer: string): string[] {
  return [
    ['-protocol_whitelist', 'file,pipe', '-codec_whitelist', CODEC_WHITELIST],
    demuxer === 'mov' ? ['-enable_drefs', '0', '-use_absolute_path', '0'] : [],
    ['-f', demuxer, '-i', `file:${path}`],
  ].flat();
}
