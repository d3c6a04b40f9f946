import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RenderError } from '../../../src/video/engines/engine.ts';
import type { RenderInputs, RenderRequest } from '../../../src/video/engines/engine.ts';
import { openStoryboard } from '../../../src/video/engines/storyboard/engine.ts';
import { makeScratch } from '../../support/scratch.ts';
import { makeMedia, testTone } from '../media/corpus.ts';
import * as tools from './render.ts';

const engine = openStoryboard();
const SIZES: Record<string, [number, number]> = {
  '21:9': [560, 240],
  '16:9': [426, 240],
  '4:3': [320, 240],
  '1:1': [240, 240],
  '3:4': [240, 320],
  '9:16': [240, 426],
};
let folder: string;

beforeAll(() => {
  folder = makeScratch('storyboard');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const draw = async (more: Partial<RenderRequest> = {}) => {
  const request = tools.buildRequest(folder, more);
  return { request, ...(await tools.render(engine, request)) };
};
const withInputs = (inputs: Partial<RenderInputs>): RenderInputs => ({
  ingredientImages: [],
  characterImages: [],
  referenceVideos: [],
  ...inputs,
});

const plain = async (name: string, background: string, size = { width: 640, height: 360 }) => {
  const path = join(folder, name);
  await sharp({ create: { ...size, channels: 3, background } }).toFile(path);
  return path;
};
const hash = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

describe('the file', () => {
  it.each(Object.entries(SIZES))('has the size of %s', async (aspectRatio, [width, height]) => {
    const { file, thumbnail } = await draw({ aspectRatio, width, height });
    expect(tools.inspect(file).video).toMatchObject({ width, height });
    const picture = await sharp(thumbnail).metadata();
    expect(picture.format).toBe('webp');
    expect(Math.max(picture.width, picture.height)).toBe(Math.min(640, Math.max(width, height)));
    expect(Math.abs(picture.width / picture.height - width / height)).toBeLessThan(0.02);
  });

  it.each([
    ['720p', 1280, 720],
    ['1080p', 1920, 1080],
    ['1080p at 21:9', 2520, 1080],
  ])('holds %s', async (_name, width, height) => {
    const { file } = await draw({ width, height });
    const facts = tools.inspect(file);
    expect(facts.video).toMatchObject({ width, height, nb_read_frames: '24' });
  });

  it.each([1, 5, 8, 10])('lasts %d seconds, to the frame, with audio and without', async (durationSeconds) => {
    for (const hasAudio of [true, false]) {
      const { file, context } = await draw({ durationSeconds, hasAudio });
      const facts = tools.inspect(file);
      expect(Math.abs(facts.seconds - durationSeconds)).toBeLessThan(1 / 24);
      expect(Number(facts.video?.nb_read_frames)).toBe(durationSeconds * 24);
      expect(facts.audio === undefined).toBe(!hasAudio);
      const heard = hasAudio ? Number(facts.audio?.duration) : durationSeconds;
      expect(Math.abs(heard - durationSeconds)).toBeLessThan(1 / 24);
      expect(facts.count).toBe(hasAudio ? 2 : 1);
      expect(context.progress.at(-1)).toBe(1);
      expect(context.progress).toEqual(context.progress.toSorted((a, b) => a - b));
    }
  });

  it('is H.264 and AAC that plays while it loads', async () => {
    const { file } = await draw({ hasAudio: true });
    const facts = tools.inspect(file);
    expect(facts.container).toContain('mp4');
    expect(facts.video).toMatchObject({
      codec_name: 'h264',
      pix_fmt: 'yuv420p',
      avg_frame_rate: '24/1',
      color_space: 'bt709',
    });
    expect(facts.audio).toMatchObject({ codec_name: 'aac', channels: 2 });
    const boxes = tools.listBoxes(file);
    expect(boxes.indexOf('moov')).toBeGreaterThan(0);
    expect(boxes.indexOf('moov')).toBeLessThan(boxes.indexOf('mdat'));
    expect(tools.measureLoudness(file)).toBeGreaterThan(-45);
    expect(facts.tags).not.toHaveProperty('encoder');
  });

  it('is VP9 and Opus where WebM is asked for', async () => {
    const { file } = await draw({ hasAudio: true, format: 'webm', durationSeconds: 2 });
    const facts = tools.inspect(file);
    expect(facts.container).toContain('webm');
    expect(facts.video).toMatchObject({ codec_name: 'vp9', pix_fmt: 'yuv420p', nb_read_frames: '48' });
    expect(facts.audio).toMatchObject({ codec_name: 'opus' });
    expect(Math.abs(facts.seconds - 2)).toBeLessThan(1 / 24);
  });
});

describe('the pictures', () => {
  it('are the same for the same seed, and others for another', async () => {
    const [first, again, other] = [await draw(), await draw(), await draw({ seed: 8 })];
    expect(hash(again.file)).toBe(hash(first.file));
    expect(hash(again.thumbnail)).toBe(hash(first.thumbnail));
    expect(hash(other.file)).not.toBe(hash(first.file));
  });

  it('show what the prompt is about', async () => {
    const color = async (prompt: string) => tools.meanColor(tools.readFrame((await draw({ prompt })).file, 0.5));
    const [sea, fire, snow] = [await color('the sea'), await color('a fire'), await color('snow')];
    expect(sea[2]).toBeGreaterThan(sea[0] * 1.2);
    expect(fire[0]).toBeGreaterThan(fire[2] * 2);
    expect(Math.min(...snow)).toBeGreaterThan(120);
  });

  it('hold the prompt itself, whatever is in it, as nothing but a text', async () => {
    const secret = join(folder, 'secret.txt');
    writeFileSync(secret, 'secret');
    const prompts = [
      `%{eif\\:1} ';[0:v]movie=${secret}[x],drawtext=textfile=${secret}`,
      '<span size="900000">&amp; <b>" \u0000\u0007\u202e',
      '日本の海 и море والبحر 🌊',
      '-i /etc/passwd',
      'word '.repeat(4000),
    ];
    for (const prompt of prompts) {
      const { file } = await draw({ prompt });
      expect(tools.inspect(file).video?.nb_read_frames).toBe('24');
    }
    const [one, two] = [await draw({ prompt: 'qqq' }), await draw({ prompt: 'zzz' })];
    const late = (file: string) => tools.readFrame(file, 0.95);
    expect(tools.compareFrames(late(one.file), late(two.file))).toBeGreaterThan(0.02);
  });

  it('begin with the start frame and end with the end frame', async () => {
    const [red, blue] = [await plain('red.png', '#d02020'), await plain('blue.png', '#2020d0')];
    const mean = (file: string, where: 'first' | 'last') => tools.meanColor(tools.readFrame(file, where));
    const start = await draw({ inputs: withInputs({ startFrame: red }) });
    expect(mean(start.file, 'first')[0]).toBeGreaterThan(180);
    const both = await draw({ durationSeconds: 2, inputs: withInputs({ startFrame: red, endFrame: blue }) });
    expect(mean(both.file, 'first')[0]).toBeGreaterThan(180);
    const last = mean(both.file, 'last');
    expect(last[2]).toBeGreaterThan(180);
    expect(last[0]).toBeLessThan(60);
    const end = await draw({ durationSeconds: 2, prompt: 'fire', inputs: withInputs({ endFrame: blue }) });
    expect(mean(end.file, 'first')[0]).toBeGreaterThan(mean(end.file, 'first')[2]);
    expect(mean(end.file, 'last')[2]).toBeGreaterThan(180);
  });

  it('show ingredients, characters and reference videos', async () => {
    const green = await plain('green.png', '#00ff00', { width: 300, height: 300 });
    const clip = makeMedia(join(folder, 'green.mp4'), '-f', 'lavfi', '-i', 'color=0x00ff00:s=320x240:d=0.4:r=30');
    const bare = await draw({ prompt: 'fire', durationSeconds: 2 });
    const share = (file: string) => {
      const { data } = tools.readFrame(file, 1.9);
      let count = 0;
      for (let at = 0; at < data.length; at += 3) {
        if ((data[at] ?? 0) < 90 && (data[at + 1] ?? 0) > 180 && (data[at + 2] ?? 0) < 90) count += 1;
      }
      return (count * 3) / data.length;
    };
    expect(share(bare.file)).toBeLessThan(0.001);
    const some: [Partial<RenderInputs>, number][] = [
      [{ ingredientImages: [green] }, 0.03],
      [{ ingredientImages: [green, green, green, green] }, 0.12],
      [{ characterImages: [green, green] }, 0.04],
      [{ referenceVideos: [clip] }, 0.03],
      [{ ingredientImages: [green, green], characterImages: [green], referenceVideos: [clip, clip] }, 0.13],
    ];
    for (const [inputs, least] of some) {
      const { file } = await draw({ prompt: 'fire', durationSeconds: 2, inputs: withInputs(inputs) });
      expect(share(file)).toBeGreaterThan(least);
    }
  });

  it('are those of the source video, in the colours of the prompt', async () => {
    const clip = ['-f', 'lavfi', '-i', 'color=gray:s=200x300:d=0.7:r=30', ...testTone(0.7), '-c:a', 'aac'];
    const source = makeMedia(join(folder, 'source.mp4'), ...clip);
    const edit = (prompt: string, hasAudio: boolean) =>
      draw({ prompt, durationSeconds: 2, hasAudio, inputs: withInputs({ sourceVideo: source }) });
    const [warm, cold] = [await edit('a fire', true), await edit('the deep blue ocean', false)];
    const top = { left: 0.3, top: 0, right: 1, bottom: 0.4 };
    const [red, , blue] = tools.meanColor(tools.readFrame(warm.file, 1), top);
    const [coldRed, , coldBlue] = tools.meanColor(tools.readFrame(cold.file, 1), top);
    expect(red - blue).toBeGreaterThan(coldRed - coldBlue + 10);
    expect(tools.inspect(warm.file)).toMatchObject({ video: { nb_read_frames: '48' }, count: 2 });
    expect(tools.inspect(cold.file).audio).toBeUndefined();
  });
});

describe('the sound', () => {
  it.each([0.6, 5])('is the recording of %d s, brought to the length of the video', async (seconds) => {
    const loud = ['-f', 'lavfi', '-i', `sine=f=880:d=${seconds}`, '-af', 'volume=6'];
    const audio = makeMedia(join(folder, `tone-${seconds}.mp3`), ...loud);
    const { file } = await draw({ durationSeconds: 2, hasAudio: true, inputs: withInputs({ audio }) });
    const facts = tools.inspect(file);
    expect(facts.audio).toMatchObject({ codec_name: 'aac' });
    expect(Math.abs(facts.seconds - 2)).toBeLessThan(1 / 24);
    expect(tools.measureLoudness(file)).toBeGreaterThan(-16);
    const { file: silent } = await draw({ durationSeconds: 1, inputs: withInputs({ audio }) });
    expect(tools.inspect(silent).audio).toBeUndefined();
  });
});

describe('a render', () => {
  it('ends at once when it is cancelled, with the reason, and leaves no process', async () => {
    const abort = new AbortController();
    const request = tools.buildRequest(folder, { durationSeconds: 10, width: 1920, height: 1080 });
    const context = tools.buildContext({ signal: abort.signal });
    const reason = new Error('cancelled by the caller');
    const running = engine.render(request, { ...context, onProgress: () => abort.abort(reason) });
    await expect(running).rejects.toBe(reason);
    const holds = () =>
      readdirSync('/proc').filter((pid) => {
        const path = `/proc/${pid}/cmdline`;
        return /^\d+$/.test(pid) && existsSync(path) && readFileSync(path, 'utf8').includes(request.folder);
      });
    await expect.poll(holds).toEqual([]);
  });

  it('reports an input that is not media', async () => {
    const sourceVideo = join(folder, 'playlist.mp4');
    writeFileSync(sourceVideo, '#EXTM3U\n#EXTINF:9,\nfile:///etc/passwd\n');
    const failed = await draw({ inputs: withInputs({ sourceVideo }) }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(RenderError);
    expect(failed).toMatchObject({ code: 'invalid_input', message: 'The file has an unknown type.' });
  });

  it('runs beside others', async () => {
    const results = await Promise.all([1, 2, 3].map((seed) => draw({ seed })));
    expect(new Set(results.map(({ file }) => hash(file))).size).toBe(3);
  });
});
