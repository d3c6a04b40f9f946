import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildIsolation, findIsolation } from '../../../src/video/media/isolation.ts';
import type { Limits } from '../../../src/video/media/isolation.ts';
import { probeReference } from '../../../src/video/media/probe.ts';
import { findProgram } from '../../../src/video/media/programs.ts';
import { MediaRunError, runMedia } from '../../../src/video/media/run.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSite } from '../../support/site.ts';
import { makeMedia, replaceBoxes, testTone, testVideo } from './corpus.ts';

const LIMITS: Limits = { cpuSeconds: 60, memoryBytes: 2 * 1024 ** 3, outputBytes: 1024 ** 3, wallMs: 60_000 };
/** Renders as long as it is let. */
const ENDLESS = ['-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=s=640x360:r=24', '-f', 'null', '-'];
let folder: string;

beforeAll(() => {
  folder = makeScratch('media');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The process ids whose command line holds a text. */
function findProcesses(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });
}

/** The head of a track with a matrix that turns its pictures by a quarter. */
function turn(body: Buffer): Buffer {
  const turned = Buffer.from(body);
  const matrix = [0, 0x1_0000, 0, -0x1_0000, 0, 0, 180 * 0x1_0000, 0, 0x4000_0000];
  matrix.forEach((value, index) => turned.writeInt32BE(value, 40 + index * 4));
  return turned;
}

const faultOf = (error: unknown) => (error instanceof MediaRunError ? error.code : error);

describe('a run', () => {
  it('sees no file but those named, and no network', async () => {
    const walls = await findIsolation();
    const site = await startSite();
    const [secret, open] = [join(folder, 'secret.mp4'), join(folder, 'open.mp4')];
    makeMedia(secret, ...testVideo(1));
    makeMedia(open, ...testVideo(1));
    const look = (url: string) =>
      runMedia({
        program: 'ffprobe',
        args: ['-v', 'error', '-protocol_whitelist', 'file,http,tcp', '-i', url],
        reads: [open],
        limits: LIMITS,
      }).then(() => 'read', faultOf);
    expect(await look(`file:${open}`)).toBe('read');
    // A container that forbids namespaces leaves the limits and ffmpeg's own lists, which the other tests look at.
    const fenced = { full: ['failed', 'failed'], network: ['read', 'failed'], none: ['read', 'failed'] }[walls];
    const asked = walls === 'none' ? 1 : 0;
    expect([await look(`file:${secret}`), await look(`${site.url}/x.mp4`)]).toEqual(fenced);
    expect(site.requests.length).toBe(asked);
    site.close();
  });

  it('has full walls where bubblewrap works', async () => {
    expect(findProgram('bwrap') === undefined || (await findIsolation()) !== 'none').toBe(true);
    expect(buildIsolation('none', { reads: [] })).toEqual([]);
  });

  it('ends with its processor time, its memory, its file size and its clock', async () => {
    const run = (limits: Partial<Limits>, args = ENDLESS) =>
      runMedia({ program: 'ffmpeg', args, reads: [], writes: folder, limits: { ...LIMITS, ...limits } }).then(
        () => 'ended',
        faultOf,
      );
    expect(await run({ cpuSeconds: 1 })).toBe('timeout');
    expect(await run({ wallMs: 300 })).toBe('timeout');
    const big = ['-v', 'error', '-f', 'lavfi', '-i', 'color=s=16000x16000:r=1:d=1', '-f', 'null', '-'];
    expect(await run({ memoryBytes: 4 * 1024 ** 3 }, big)).toBe('ended');
    // Some versions of ffmpeg say so when they get no memory, others wait until they are killed.
    expect(await run({ memoryBytes: 400 * 1024 ** 2, wallMs: 5000 }, big)).not.toBe('ended');
    const file = join(folder, 'big.yuv');
    const written = ['-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=s=1280x720:d=5', '-f', 'rawvideo', file];
    expect(await run({ outputBytes: 1024 ** 2 }, written)).toBe('failed');
    expect(readFileSync(file).length).toBeLessThanOrEqual(1024 ** 2);
  });

  it('is killed with its group when the signal aborts, and throws its reason', async () => {
    const abort = new AbortController();
    const mark = 'testsrc2=s=642x362:r=24';
    const args = ENDLESS.with(4, mark);
    const run = runMedia({ program: 'ffmpeg', args, reads: [], limits: LIMITS, signal: abort.signal });
    const caught = run.catch((error: unknown) => error);
    await expect.poll(() => findProcesses(mark).length).toBeGreaterThan(0);
    const reason = new Error('enough');
    abort.abort(reason);
    expect(await caught).toBe(reason);
    await expect.poll(() => findProcesses(mark)).toEqual([]);
  });

  it('names the package to install if the program is missing', async () => {
    const run = runMedia({ program: 'ffmpeg', args: ['-version'], reads: [], limits: LIMITS, places: [folder] });
    await expect(run).rejects.toMatchObject({
      code: 'missing',
      message: expect.stringContaining('"ffmpeg"') as string,
    });
  });

  it('does not begin when the signal has aborted before', async () => {
    const file = join(folder, 'never.yuv');
    const args = ['-f', 'lavfi', '-i', 'testsrc2=d=1', '-f', 'rawvideo', file];
    const signal = AbortSignal.abort(new Error('early'));
    const run = runMedia({ program: 'ffmpeg', args, reads: [], writes: folder, limits: LIMITS, signal });
    await expect(run).rejects.toThrow('early');
    expect(existsSync(file)).toBe(false);
  });
});

describe('facts', () => {
  const at = (name: string) => join(folder, name);

  it.each([
    ['plain.mp4', [], { width: 320, height: 180, framesPerSecond: 24, hasAudio: false, mime: 'video/mp4' }],
    ['sound.mp4', [...testTone(2), '-c:a', 'aac'], { hasAudio: true }],
    ['clip.mov', ['-c:v', 'libx264'], { mime: 'video/quicktime' }],
    ['clip.webm', ['-c:v', 'libvpx', '-b:v', '500k'], { mime: 'video/webm' }],
    ['clip.mkv', ['-c:v', 'libx265', '-x265-params', 'log-level=none'], { mime: 'video/matroska' }],
    ['small.mp4', ['-c:v', 'mpeg4'], { width: 320 }],
  ])('of the video %s', async (name, args, facts) => {
    makeMedia(at(name), ...testVideo(2), ...args);
    const found = await probeReference(at(name), 'video');
    expect(found).toMatchObject({ kind: 'video', ...facts });
    expect(found.seconds).toBeCloseTo(2, 1);
  });

  it.each([
    ['tone.mp3', [], 'audio/mpeg'],
    ['tone.wav', [], 'audio/wav'],
    ['tone.m4a', [], 'audio/x-m4a'],
    ['tone.aac', [], 'audio/aac'],
    ['tone.flac', [], 'audio/flac'],
    ['tone.ogg', ['-c:a', 'libvorbis'], 'audio/ogg'],
    ['tone.opus', ['-ar', '48000', '-c:a', 'libopus'], 'audio/ogg; codecs=opus'],
  ])('of the recording %s', async (name, args, mime) => {
    makeMedia(at(name), ...testTone(3), ...args);
    const found = await probeReference(at(name), 'audio');
    expect(found).toMatchObject({ kind: 'audio', mime, channels: 1 });
    expect(Math.abs(found.seconds - 3)).toBeLessThan(0.3);
  });

  it('of a video that is held upright, and of a file whose name means something to ffmpeg', async () => {
    const flat = makeMedia(at('flat.mp4'), ...testVideo(1));
    writeFileSync(at('turned.mp4'), replaceBoxes(readFileSync(flat), 'tkhd', turn));
    expect(await probeReference(at('turned.mp4'), 'video')).toMatchObject({ width: 180, height: 320 });
    for (const name of ['-i', 'http:x%d.mp4', "it's.mp4", 'a|b,c[d];e.mp4']) {
      writeFileSync(at(name), readFileSync(flat));
      expect(await probeReference(at(name), 'video')).toMatchObject({ width: 320 });
    }
  });
});
