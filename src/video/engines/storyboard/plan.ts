import { omitUndefined } from '../../../platform/records.ts';
import { probeClip } from '../../media/clip.ts';
import { buildInputArguments, findDemuxer } from '../../media/formats.ts';
import type { RenderInputs, RenderRequest } from '../engine.ts';
import { makeCaption } from './caption.ts';
import type { Clip, PlacedSprite, Plan, PlacedClip } from './graph.ts';
import { drawLayer, drawLight, drawParticles } from './landscape.ts';
import { buildRandom, pickBetween } from '../../../platform/random.ts';
import { decideScene } from './scenes.ts';
import type { ParticleKind, Scene } from './scenes.ts';
import { drawRim, drawSprite, makeFrame, makeTile } from './sprites.ts';
import type { SpriteFolder } from './sprites.ts';

/** How fast particles fall, in frame heights per second; negative: they rise. */
const FALL: Record<ParticleKind, number> = {
  stars: 0.012,
  snow: 0.16,
  embers: -0.28,
  rain: 1.6,
  petals: 0.14,
  bubbles: -0.16,
  dust: -0.04,
};

/** Draws every part of a request's video. */
export async function makePlan(request: RenderRequest, signal: AbortSignal): Promise<Plan> {
  const { inputs } = request;
  const to: SpriteFolder = { folder: request.folder, signal };
  const scene = decideScene(request.prompt, request.seed);
  const fills = inputs.startFrame !== undefined || inputs.sourceVideo !== undefined;
  const note = `storyboard-1 preview  ·  ${scene.name}  ·  seed ${request.seed}`;
  const [start, end, source, audio, landscape, tiles, caption] = await Promise.all([
    inputs.startFrame === undefined ? undefined : makeFrame(to, 'start', inputs.startFrame, enlarge(request)),
    inputs.endFrame === undefined ? undefined : makeFrame(to, 'end', inputs.endFrame, enlarge(request)),
    inputs.sourceVideo === undefined ? undefined : openClip(inputs.sourceVideo, 'video', signal),
    inputs.audio === undefined ? undefined : openClip(inputs.audio, 'audio', signal),
    fills ? [] : drawLandscape(request, scene, to),
    layTiles(request, scene, to),
    makeCaption(to, 'caption', { prompt: request.prompt, note, accent: scene.accent, frame: request }),
  ]);
  const sound = audio ?? (source?.hasAudio === true ? source : ('ambience' as const));
  return {
    width: request.width,
    height: request.height,
    seconds: request.durationSeconds,
    seed: request.seed,
    scene,
    ...omitUndefined({ start, end, source }),
    ...(request.hasAudio ? { sound } : {}),
    landscape,
    over: [...tiles.over, placeCaption(caption, request)],
    clips: tiles.clips,
    waves: request.hasAudio && audio !== undefined,
  };
}

/** Paths of the caller's files that ffmpeg reads directly. */
export function listRead({ sourceVideo, referenceVideos, audio }: RenderInputs): string[] {
  return [sourceVideo, audio, ...referenceVideos].filter((path) => path !== undefined);
}

/** Twice the frame, so that slow zooming moves by halves of its pixels. */
function enlarge({ width, height }: RenderRequest): { width: number; height: number } {
  const factor = Math.min(2, 2880 / Math.max(width, height));
  return { width: 2 * Math.round((width * factor) / 2), height: 2 * Math.round((height * factor) / 2) };
}

async function openClip(path: string, kind: 'video' | 'audio', signal: AbortSignal) {
  const facts = await probeClip(path, kind, signal);
  const input = buildInputArguments(path, findDemuxer(facts.mime, kind) ?? '');
  return { input, hasAudio: facts.kind === 'audio' || facts.hasAudio };
}

async function drawLandscape(request: RenderRequest, scene: Scene, to: SpriteFolder): Promise<PlacedSprite[]> {
  const { width, height, durationSeconds: seconds, seed } = request;
  const random = buildRandom(seed);
  const left = decideDirection(request.prompt, random);
  const { accent } = scene;
  const place = { light: pickBetween(random, 0.15, 0.7), height: pickBetween(random, 0.06, 0.2) };
  const slide = (range: number): string => {
    const moved = `${range}*t/${seconds}`;
    return left ? `-${moved}` : `-${range}+${moved}`;
  };
  const layer = async (name: 'far' | 'near', part: number, range: number, salt: number) => {
    const size = { width: width * (1 + range), height: height * part };
    const sprite = await drawSprite(to, name, drawLayer(scene[name], size, { seed: seed + salt, accent }));
    return { sprite, x: slide(sprite.width - width), y: `H-h` };
  };
  const fall = FALL[scene.particles] * height;
  const drift = `mod(${Math.abs(fall).toFixed(2)}*t,${height})`;
  const side = Math.min(width, height) * 0.62;
  const [light, far, air, near] = await Promise.all([
    scene.light === undefined ? undefined : drawSprite(to, 'light', drawLight(scene.light, side)),
    layer('far', 0.58, 0.12, 1),
    drawSprite(to, 'air', drawParticles(scene.particles, { width, height }, { seed: seed + 2, accent })),
    layer('near', scene.near.kind === 'flames' ? 0.5 : 0.4, 0.3, 3),
  ]);
  const glow = light && {
    sprite: light,
    x: `${Math.round(width * place.light - side / 2)}+${Math.round(width * 0.05)}*t/${seconds}`,
    y: `${Math.round(height * place.height - side * 0.1)}`,
  };
  const particles = { sprite: air, x: '0', y: fall >= 0 ? `${drift}-${height}` : `-${drift}` };
  return [...(glow === undefined ? [] : [glow]), far, particles, near];
}

function decideDirection(prompt: string, random: () => number): boolean {
  const chance = random() < 0.5;
  if (/\bleft\b/i.test(prompt)) return false;
  return /\bright\b/i.test(prompt) ? true : chance;
}

/** Things, characters and clips in rows from the top, one coming after another. */
async function layTiles(request: RenderRequest, scene: Scene, to: SpriteFolder) {
  const { width, height, durationSeconds: seconds, inputs } = request;
  const side = 2 * Math.round(Math.min(width * 0.24, height * 0.27) / 2);
  const gap = Math.round(side * 0.12);
  const columns = Math.max(1, Math.floor((width - gap) / (side + gap)));
  const place = (index: number, inset = 0) => {
    const row = Math.floor(index / columns);
    const x = gap + (index % columns) * (side + gap);
    const y = gap + row * (side + gap);
    const come = Math.min(0.5, seconds / 6) + index * Math.min(0.3, seconds / 14);
    const away = `max(0,1-max(0,t-${come.toFixed(3)})/0.5)`;
    return { x: `${x + inset}`, y: `${y + inset}-${(row + 1) * (side + gap)}*pow(${away},3)` };
  };
  const pictures = [
    ...inputs.ingredientImages.map((path) => ({ path, round: false })),
    ...inputs.characterImages.map((path) => ({ path, round: true })),
  ];
  const over = pictures.map(async ({ path, round }, index): Promise<PlacedSprite> => {
    const sprite = await makeTile(to, `tile${index}`, path, { side, round, accent: scene.accent });
    return { sprite, ...place(index) };
  });
  const rim = Math.max(2, 2 * Math.round(side / 80));
  const clips = inputs.referenceVideos.map(async (path, index): Promise<PlacedClip> => {
    const at = pictures.length + index;
    const clip: Clip = await openClip(path, 'video', to.signal);
    const inner = { width: side - 2 * rim, height: side - 2 * rim };
    const sprite = await drawRim(to, `rim${index}`, { width: side, height: side });
    return { input: clip.input, ...inner, ...place(at, rim), rim: { sprite, ...place(at) } };
  });
  const [tiles, framed] = await Promise.all([Promise.all(over), Promise.all(clips)]);
  return { over: tiles, clips: framed };
}

/** Slides in from below, and disappears before an end frame so that the frame is fully visible. */
function placeCaption(sprite: PlacedSprite['sprite'], request: RenderRequest): PlacedSprite {
  const { width, height, durationSeconds: seconds, inputs } = request;
  const margin = Math.round(Math.min(width, height) * 0.06);
  const lift = inputs.audio !== undefined && request.hasAudio ? Math.round(height / 10) : 0;
  const way = sprite.height + margin + lift;
  const come = `pow(max(0,1-max(0,t-0.15)/0.6),3)`;
  const leave = `pow(max(0,(t-${(seconds * 0.72).toFixed(3)})/${(seconds * 0.12).toFixed(3)}),2)`;
  const gone = inputs.endFrame === undefined ? come : `(${come}+${leave})`;
  return { sprite, x: `${margin}`, y: `H-${way}+${way}*${gone}` };
}
