import { describe, expect, it } from 'vitest';
import { GenerationCreate } from '../../src/video/contract/generations.ts';
import type { NewGeneration } from '../../src/video/store/submits.ts';
import { openStoryboard } from '../../src/video/engines/storyboard/engine.ts';
import {
  decideAspectRatio,
  decideCharges,
  decideSize,
  decideRequestedOptions,
} from '../../src/video/generations/decide.ts';

const [model] = await openStoryboard().models();
if (model === undefined) throw new Error('The built-in engine has no model.');

describe('the size of a video', () => {
  it.each([
    ['16:9', '720p', 1280, 720],
    ['9:16', '720p', 720, 1280],
    ['1:1', '720p', 720, 720],
    ['4:3', '720p', 960, 720],
    ['3:4', '720p', 720, 960],
    ['21:9', '720p', 1680, 720],
    ['16:9', '1080p', 1920, 1080],
    ['16:9', '480p', 854, 480],
  ])('%s in %s is %i × %i', (ratio, resolution, width, height) => {
    expect(decideSize(ratio, resolution)).toEqual({ width, height });
  });
});

describe('an aspect ratio left open', () => {
  it.each([
    [undefined, '16:9'],
    [{ width: 4000, height: 3000 }, '4:3'],
    [{ width: 500, height: 500 }, '1:1'],
    [{ width: 1080, height: 1920 }, '9:16'],
    [{ width: 3000, height: 1000 }, '21:9'],
  ])('is that of the first picture: %j is %s', (picture, ratio) => {
    expect(decideAspectRatio('auto', model, picture)).toBe(ratio);
  });

  it('keeps the requested value', () => {
    expect(decideAspectRatio('1:1', model, { width: 1920, height: 1080 })).toBe('1:1');
  });
});

describe('omitted fields of a request', () => {
  const requested = (body: Record<string, unknown>, prices = {}) =>
    decideRequestedOptions(model, GenerationCreate.parse({ prompt: 'x', modelName: model.name, ...body }), prices);

  it("is the model's first choice", () => {
    expect(requested({})).toMatchObject({
      aspectRatio: 'auto',
      durationSeconds: 5,
      resolution: '720p',
      format: 'mp4',
      hasAudio: true,
      variant: 'text-to-video',
      credits: 5,
    });
  });

  it('has the price of the configuration, rounded up', () => {
    expect(requested({ duration: '3s' }, { [model.name]: 0.5 }).credits).toBe(2);
    expect(requested({ duration: '3s' }, { [model.name]: 0 }).credits).toBe(0);
  });

  it.each([
    [{ startFrameKey: 'k' }, 'image-to-video'],
    [{ endFrameKey: 'k' }, 'image-to-video'],
    [{ sourceVideoKey: 'k', startFrameKey: 'k' }, 'video-to-video'],
    [{ ingredientImageKeys: ['k'] }, 'reference-to-video'],
    [{ audioKey: 'k' }, 'audio-to-video'],
  ])('with %j is %s', (body, variant) => {
    expect(requested(body).variant).toBe(variant);
  });
});

describe('payments from accounts', () => {
  const order = (organizationId: string, ...credits: number[]) => ({
    organizationId,
    generations: credits.map((each) => ({ id: `${organizationId}-${each}`, credits: each }) as NewGeneration),
  });

  it('is decided in the order that they came, each with its place behind the last', () => {
    const orders = [order('a', 3, 4), order('b', 1), order('a', 9), order('a', 2), order('c', 1)];
    const accounts = [
      { organizationId: 'a', balance: 10, queueTag: 5 },
      { organizationId: 'b', balance: 1, queueTag: 7 },
    ];
    const { outcomes, paid } = decideCharges(accounts, orders);
    expect(orders.map((each) => outcomes.get(each))).toEqual([
      'queued',
      'queued',
      { required: 9, balance: 3 },
      'queued',
      undefined,
    ]);
    expect(paid.map(({ id, queueTag }) => [id, queueTag])).toEqual([
      ['a-3', 6],
      ['a-4', 7],
      ['b-1', 8],
      ['a-2', 8],
    ]);
    expect(accounts[0]).toEqual({ organizationId: 'a', balance: 10, queueTag: 5 });
  });
});
