import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync, gzipSync } from 'node:zlib';
import sharp from 'sharp';
import type { ReferenceKind } from '../../../src/video/media/formats.ts';

export type Hostile = { name: string; path: string; as: ReferenceKind[] };

/** Runs ffmpeg as a test needs it, to make files. */
export function makeMedia(path: string, ...args: string[]): string {
  execFileSync('ffmpeg', ['-v', 'error', '-y', '-nostdin', ...args, path]);
  return path;
}

export const testVideo = (seconds: number, size = '320x180', rate = 24) => [
  '-f',
  'lavfi',
  '-i',
  `testsrc2=s=${size}:r=${rate}:d=${seconds}`,
];
export const testTone = (seconds: number) => ['-f', 'lavfi', '-i', `sine=frequency=440:duration=${seconds}`];

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** A PNG of one bit a pixel, all black: very many pixels in few bytes. */
function png(width: number, height: number, ...more: Buffer[]): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 1;
  const rows = deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height), { level: 9 });
  const magic = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([magic, chunk('IHDR', head), ...more, chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]);
}

/** A WAV header that promises any number of channels. */
function wav(channels: number, seconds: number): Buffer {
  const rate = 8000;
  const data = Buffer.alloc(Math.min(rate * seconds * channels * 2, 4_000_000));
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * channels * 2, 28);
  head.writeUInt16LE((channels * 2) % 65_536, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}

function box(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

/** Replaces each box of a type in an MP4, with the sizes around it. The media must come before the table (no faststart). */
export function replaceBoxes(file: Buffer, type: string, make: (body: Buffer) => Buffer): Buffer {
  const containers = new Set(['moov', 'trak', 'mdia', 'minf', 'dinf', 'stbl', 'edts']);
  const parts: Buffer[] = [];
  for (let at = 0; at + 8 <= file.length;) {
    const size = file.readUInt32BE(at) || file.length - at;
    const name = file.toString('latin1', at + 4, at + 8);
    const body = file.subarray(at + 8, at + size);
    if (name === type) parts.push(box(name, make(body)));
    else parts.push(containers.has(name) ? box(name, replaceBoxes(body, type, make)) : file.subarray(at, at + size));
    at += size;
  }
  return Buffer.concat(parts);
}

/** A QuickTime alias: "the media of this track is in that other file". */
function alias(target: string): Buffer {
  const path = Buffer.from(target, 'utf8');
  const record = Buffer.alloc(150);
  record.writeUInt16BE(150, 4);
  record.writeUInt16BE(2, 6);
  record.write('volume', 11, 'latin1');
  record[10] = 6;
  const name = target.split('/').at(-1) ?? '';
  record[50] = name.length;
  record.write(name, 51, 'latin1');
  const tag = (kind: number, data: Buffer) => {
    const head = Buffer.alloc(4);
    head.writeInt16BE(kind, 0);
    head.writeInt16BE(data.length, 2);
    return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
  };
  const end = Buffer.from([0xff, 0xff, 0, 0]);
  return Buffer.concat([Buffer.alloc(4), record, tag(2, path), tag(18, path), end]);
}

function nest(inner: Buffer, depth: number): Buffer {
  return depth === 0 ? inner : nest(box('moov', inner), depth - 1);
}

const dref = (entry: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), entry]);

/** Every file here is made to read `secret`, ask `url`, or to be more than it seems. */
export async function makeCorpus(folder: string, secret: string, url: string): Promise<Hostile[]> {
  const corpus: Hostile[] = [];
  const add = (name: string, as: ReferenceKind[], content: Buffer | string) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    corpus.push({ name, path, as });
  };
  const all: ReferenceKind[] = ['image', 'video', 'audio'];
  const clip = readFileSync(makeMedia(join(folder, 'clip.mp4'), ...testVideo(2), ...testTone(2), '-c:a', 'aac'));
  const fast = readFileSync(makeMedia(join(folder, 'fast.mp4'), ...testVideo(4), '-movflags', '+faststart'));
  const webm = readFileSync(makeMedia(join(folder, 'clip.webm'), ...testVideo(2), '-c:v', 'libvpx', '-b:v', '1M'));
  const photo = await sharp({ create: { width: 640, height: 480, channels: 3, background: '#336699' } })
    .jpeg()
    .toBuffer();

  const playlist = (target: string) =>
    `#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:9,\n${target}\n#EXT-X-ENDLIST\n`;
  add('hls-file.m3u8', all, playlist(`file://${secret}`));
  add('hls-file.mp4', all, playlist(`file://${secret}`));
  add('hls-http.m3u8', all, playlist(`${url}/segment.ts`));
  add('hls-concat.mp4', all, playlist(`concat:${url}/head.m3u8|file://${secret}`));
  add('hls-bomb.m3u8', all, playlist(`${url}/x.ts`).repeat(20_000));
  add('concat.txt', all, `ffconcat version 1.0\nfile '${secret}'\nfile '${url}/x.mp4'\n`);
  add('concat.mp4', all, `ffconcat version 1.0\nfile file:${secret}\n`);
  add('dash.mpd', all, `<MPD><Period><AdaptationSet><BaseURL>${url}/</BaseURL></AdaptationSet></Period></MPD>`);
  add('session.sdp', all, 'v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n');
  add('subtitles.srt', all, '1\n00:00:00,000 --> 00:00:09,000\n<font face="x">hello</font>\n');
  add('subtitles.ass', all, `[Script Info]\nScriptType: v4.00+\n[Fonts]\nfontname: ${secret}\n`);
  add('picture.svg', all, `<svg xmlns="http://www.w3.org/2000/svg"><image href="file://${secret}"/></svg>`);
  add('request.svg', all, `<svg xmlns="http://www.w3.org/2000/svg"><image href="${url}/x.png"/></svg>`);
  add('entity.svg', all, `<?xml version="1.0"?><!DOCTYPE s [<!ENTITY x SYSTEM "file://${secret}">]><svg>&x;</svg>`);
  add('script.mvg', all, `push graphic-context\nimage over 0,0 0,0 'url(${url}/x)'\npop graphic-context\n`);
  add('page.html', all, `<html><img src="file://${secret}"></html>`);
  add('gif-script.gif', all, `GIF89a/*${playlist(`${url}/x`)}*/=1`);
  add('avi-playlist.avi', all, `RIFF\0\0\0\0AVI LIST\0\0\0\0hdrl GAB2\0${playlist(`file://${secret}`)}`);
  add('mp4-playlist.mp4', all, Buffer.concat([clip.subarray(0, 32), Buffer.from(playlist(`file://${secret}`))]));
  add('mp4-free.mp4', all, Buffer.concat([clip.subarray(0, 32), box('free', Buffer.from(playlist(`${url}/x`)))]));
  add('png-playlist.png', all, Buffer.concat([png(64, 64).subarray(0, 8), Buffer.from(playlist(`${url}/x`))]));

  add(
    'mp4-alias.mp4',
    ['video'],
    replaceBoxes(clip, 'dref', () => dref(box('alis', alias(secret)))),
  );
  const far = Buffer.concat([Buffer.alloc(4), Buffer.from(`${url}/media.mp4\0`)]);
  add(
    'mp4-alias-far.mp4',
    ['video'],
    replaceBoxes(clip, 'dref', () => dref(box('alis', alias(`${url}/media.mp4`)))),
  );
  // Players may take the media of a `url ` track from the file itself: nothing outside is read, so it may pass as audio.
  add(
    'mp4-url.mp4',
    ['image'],
    replaceBoxes(clip, 'dref', () => dref(box('url ', far))),
  );
  add(
    'mp4-many-samples.mp4',
    ['video'],
    replaceBoxes(clip, 'stsz', () => Buffer.from('0000000000000001ffffffff', 'hex')),
  );
  add('mp4-deep.mp4', all, nest(clip.subarray(0, 32), 2000));
  add('mp4-huge-box.mp4', all, Buffer.concat([clip.subarray(0, 32), Buffer.from('ffffffff6d6f6f76', 'hex')]));
  const wide = Buffer.from('000000016d6f6f767fffffffffffffff', 'hex');
  add('mp4-wide-box.mp4', all, Buffer.concat([clip.subarray(0, 32), wide]));

  add('bomb.png', all, png(30_000, 30_000));
  add('bomb-header.png', all, png(16, 16).fill(0x7f, 16, 24));
  const zeros = deflateSync(Buffer.alloc(128 * 1024 * 1024), { level: 9 });
  const named = (name: string) => Buffer.concat([Buffer.from(`${name}\0\0`, 'latin1'), zeros]);
  add(
    'bomb-international.png',
    all,
    png(64, 64, chunk('iTXt', Buffer.concat([Buffer.from('a\0\x01\0en\0b\0', 'latin1'), zeros]))),
  );
  add('bomb-text.png', all, png(64, 64, chunk('zTXt', named('Comment'))));
  add('bomb-profile.png', all, png(64, 64, chunk('iCCP', named('icc'))));
  add('bomb.gif', all, Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(7, 0xff), Buffer.from([0x2c])]));
  add('bomb.gz', all, gzipSync(Buffer.alloc(64 * 1024 * 1024)));
  add('cut.jpg', all, photo.subarray(0, 700));
  add('cut.png', all, png(640, 480).subarray(0, 60));
  add('thin.png', all, png(20_000, 1));
  add('tiny.png', all, png(1, 1));

  add('cut-head.mp4', all, clip.subarray(0, 40));
  add('cut-table.mp4', all, clip.subarray(0, Math.floor(clip.length * 0.7)));
  add('cut-media.mp4', all, fast.subarray(0, Math.floor(fast.length * 0.5)));
  add('cut.webm', all, webm.subarray(0, Math.floor(webm.length * 0.3)));
  add('noise-behind-head.mp4', all, Buffer.concat([clip.subarray(0, 32), Buffer.alloc(100_000, 0xa5)]));
  const make = (name: string, as: ReferenceKind[], ...args: string[]) =>
    corpus.push({ name, path: makeMedia(join(folder, name), ...args), as });
  make('long.mp4', all, ...testVideo(1, '64x64', 10), '-vf', 'setpts=N*5000/TB', '-fps_mode', 'vfr');
  make('large.mp4', all, ...testVideo(0.1, '4098x4098', 10), '-preset', 'ultrafast');
  make('rate.mp4', all, ...testVideo(1, '32x32', 1000));
  make(
    'streams.mp4',
    ['image', 'video', 'audio'],
    ...testVideo(1),
    ...Array.from({ length: 10 }, () => ['-map', '0']).flat(),
  );
  make('old.avi', all, ...testVideo(1), '-c:v', 'mpeg4');
  make('gif.mp4', ['image'], ...testVideo(1));
  make('odd-codec.mkv', ['image', 'video', 'audio'], ...testVideo(1), '-c:v', 'ffv1');
  make('subtitled.mkv', all, ...testVideo(1), '-i', join(folder, 'subtitles.srt'), '-map', '0', '-map', '1');
  make('attached.mkv', all, ...testVideo(1), '-attach', secret, '-metadata:s:t', 'mimetype=text/plain');
  make('silent.mp4', ['audio', 'image'], ...testVideo(1));
  make('tone.m4a', ['video', 'image'], ...testTone(1));

  add('channels.wav', all, wav(1000, 1));
  add('no-channels.wav', all, wav(0, 1));
  add('many-channels.wav', all, wav(65_535, 1));
  add('hours.wav', all, Buffer.concat([wav(1, 1).subarray(0, 40), Buffer.from('ffffffff', 'hex')]));
  add('id3.mp3', all, Buffer.concat([Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7f', 'latin1'), Buffer.alloc(2_000_000)]));
  add('empty', all, '');
  add('byte', all, 'x');
  return corpus;
}
