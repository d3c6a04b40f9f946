// Draws docs/images/storyboard.jpg: results of `local/storyboard-1` for prompts, frames, pictures, clips and shapes.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import type { RenderInputs, RenderRequest, RenderResult } from '../src/video/engines/engine.ts';
import { openStoryboard } from '../src/video/engines/storyboard/engine.ts';

const SCENES = [
  'A whale jumps out of the ocean at dawn',
  'A path through a quiet forest',
  'A dragon breathing fire over lava',
  'An astronaut drifting in space',
  'Stars over a sleeping village at night',
  'Neon city street in the rain',
  'First snow of winter',
  'Cherry blossom and butterflies',
  'Camels cross the desert at sunset',
  'Eagles above mountain peaks',
  'A lonely boat in a storm under grey clouds',
  'Something nobody has words for, in turquoise',
];
const TILE = { width: 320, height: 180 };
const GAP = 6;
const COLUMNS = 4;

const root = mkdtempSync(join(tmpdir(), 'capstan-sheet-'));
const engine = openStoryboard();
let count = 0;

async function render(prompt: string, inputs: Partial<RenderInputs> = {}, more: Partial<RenderRequest> = {}) {
  count += 1;
  const folder = join(root, String(count));
  mkdirSync(folder);
  const request: RenderRequest = {
    id: `gen_${count}`,
    model: 'local/storyboard-1',
    prompt,
    aspectRatio: '16:9',
    durationSeconds: 4,
    width: 854,
    height: 480,
    hasAudio: inputs.audio !== undefined,
    format: 'mp4',
    seed: count * 7,
    inputs: { ingredientImages: [], characterImages: [], referenceVideos: [], ...inputs },
    folder,
    ...more,
  };
  return await engine.render(request, {
    signal: new AbortController().signal,
    onProgress: () => undefined,
    handle: undefined,
    saveHandle: () => Promise.resolve(),
  });
}

const scenes: RenderResult[] = [];
for (const prompt of SCENES) scenes.push(await render(prompt));
const still = (index: number) => scenes[index]?.thumbnail ?? '';
const clip = (index: number) => scenes[index]?.file ?? '';
const sound = await render('the sea', {}, { hasAudio: true, durationSeconds: 2 });
const composed = [
  await render('From the desert to the stars', { startFrame: still(8), endFrame: still(4) }),
  await render('A picnic with everything in it', {
    ingredientImages: [still(1), still(7)],
    characterImages: [still(3), still(5)],
  }),
  await render('The same street on fire', { sourceVideo: clip(5) }),
  await render('A forest between three others', { referenceVideos: [clip(6), clip(2), clip(0)] }),
  await render('Waves that move to a recording', { audio: sound.file }),
  await render('A lighthouse by the sea', {}, { aspectRatio: '9:16', width: 480, height: 854 }),
  await render('Roses for a wedding', {}, { aspectRatio: '1:1', width: 480, height: 480 }),
  await render('Mountains as wide as the screen', {}, { aspectRatio: '21:9', width: 1120, height: 480 }),
];

const all = [...scenes, ...composed];
const tiles = await Promise.all(
  all.map(async ({ thumbnail }, index) => ({
    input: await sharp(thumbnail)
      .resize({ ...TILE, fit: 'contain', background: '#11131a' })
      .toBuffer(),
    left: GAP + (index % COLUMNS) * (TILE.width + GAP),
    top: GAP + Math.floor(index / COLUMNS) * (TILE.height + GAP),
  })),
);
const rows = Math.ceil(all.length / COLUMNS);
const size = { width: COLUMNS * (TILE.width + GAP) + GAP, height: rows * (TILE.height + GAP) + GAP };
await sharp({ create: { ...size, channels: 3, background: '#11131a' } })
  .composite(tiles)
  .jpeg({ quality: 82, mozjpeg: true })
  .toFile('docs/images/storyboard.jpg');
rmSync(root, { recursive: true });
