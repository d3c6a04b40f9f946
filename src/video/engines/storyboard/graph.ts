import { buildAmbience, buildRecording } from './sound.ts';
import type { Scene } from './scenes.ts';
import type { Sprite } from './sprites.ts';

export const FRAMES_PER_SECOND = 24;

/** A sprite that moves over the frame; `x` and `y` are expressions in `t` that contain only numbers. */
export type PlacedSprite = { sprite: Sprite; x: string; y: string };
/** A caller's clip: the ffmpeg arguments that open it with restrictions. */
export type Clip = { input: readonly string[] };
export type PlacedClip = Clip & { width: number; height: number; x: string; y: string; rim: PlacedSprite };

export type Plan = {
  width: number;
  height: number;
  seconds: number;
  seed: number;
  scene: Scene;
  /** the background; the landscape where none of these is given */
  start?: Sprite;
  end?: Sprite;
  source?: Clip;
  /** from back to front, over the background of a landscape */
  landscape: PlacedSprite[];
  /** over any background */
  over: PlacedSprite[];
  clips: PlacedClip[];
  /** absent: no audio. `ambience` is synthesized; otherwise the input arguments of the clip whose audio is played */
  sound?: 'ambience' | Clip;
  /** shows the recording as a wave along the lower edge */
  waves: boolean;
};

export type Graph = { inputs: string[]; filter: string };

/** ffmpeg's inputs and the filter graph of a plan. The graph contains only our own numbers and colours. */
export function buildGraph(plan: Plan): Graph {
  const inputs: string[] = [];
  let count = 0;
  const open = (args: readonly string[]): number => {
    inputs.push(...args);
    count += 1;
    return count - 1;
  };
  const openSprite = ({ path, width, height }: Sprite) =>
    open(['-f', 'rawvideo', '-pixel_format', 'rgba', '-video_size', `${width}x${height}`, '-i', `file:${path}`]);
  const chains: string[] = [];
  const lay = (below: string, { sprite, x, y }: PlacedSprite): string => {
    const index = openSprite(sprite);
    const name = `o${index}`;
    chains.push(`[${index}:v]${COLORS},format=yuva420p[s${index}]`);
    chains.push(`[${below}][s${index}]overlay=x='${x}':y='${y}':format=yuv420[${name}]`);
    return name;
  };

  let top = buildBackground(plan, { open, openSprite, lay, chains });
  for (const clip of plan.clips) top = layClip(lay(top, clip.rim), clip, plan, { open, chains });
  for (const placed of plan.over) top = lay(top, placed);
  if (plan.sound !== undefined) chains.push(...buildSound(plan, open));
  if (plan.waves) top = layWaves(top, plan, chains);

  const middle = Math.floor((plan.seconds * FRAMES_PER_SECOND) / 2);
  const small =
    plan.width >= plan.height ? `w=${Math.min(640, plan.width)}:h=-2` : `w=-2:h=${Math.min(640, plan.height)}`;
  chains.push(`[${top}]format=yuv420p,setsar=1,split=2[video][whole]`);
  chains.push(`[whole]select='eq(n\\,${middle})',scale=${small}[thumbnail]`);
  return { inputs, filter: chains.join(';') };
}

const COLORS = 'scale=out_color_matrix=bt709:out_range=tv';

type Tools = {
  open(args: readonly string[]): number;
  openSprite(sprite: Sprite): number;
  lay(below: string, placed: PlacedSprite): string;
  chains: string[];
};

function buildBackground(plan: Plan, tools: Tools): string {
  const { chains } = tools;
  if (plan.source !== undefined) {
    const index = tools.open(['-stream_loop', '-1', ...plan.source.input]);
    chains.push(`[${index}:v:0]${fillFrame(plan)},${gradeColors(plan.scene)}[source]`);
    return 'source';
  }
  const frames = plan.seconds * FRAMES_PER_SECOND;
  const zoom = (sprite: Sprite, inwards: boolean, name: string): string => {
    const index = tools.openSprite(sprite);
    const part = inwards ? `on/${frames}` : `(1-(on+1)/${frames})`;
    chains.push(
      `[${index}:v]${COLORS},format=yuv444p,zoompan=z='1+0.14*${part}':x='iw/2-(iw/zoom/2)':y='ih/2-(ih/zoom/2)':d=${frames}:s=${plan.width}x${plan.height}:fps=${FRAMES_PER_SECOND},${EVEN}[${name}]`,
    );
    return name;
  };
  const first = plan.start === undefined ? buildLandscape(plan, tools) : zoom(plan.start, true, 'start');
  if (plan.end === undefined) return first;
  const last = zoom(plan.end, false, 'end');
  const [length, offset] = [plan.seconds * 0.4, plan.seconds * 0.3];
  chains.push(`[${first}]${EVEN}[before]`);
  chains.push(`[before][${last}]xfade=transition=fade:duration=${length}:offset=${offset}[crossed]`);
  return 'crossed';
}

const EVEN = `fps=${FRAMES_PER_SECOND},settb=1/${FRAMES_PER_SECOND},setsar=1,format=yuv420p`;

/** The sky is drawn small and enlarged: it has no edges, and this takes a sixteenth of the time. */
function buildLandscape(plan: Plan, tools: Tools): string {
  const { chains } = tools;
  const [width, height] = [Math.ceil(plan.width / 8) * 2, Math.ceil(plan.height / 8) * 2];
  const colors = plan.scene.sky.map((color, index) => `c${index}=0x${color.slice(1)}`).join(':');
  // ffmpeg replaces points outside the picture by random ones.
  const line = `x0=${width / 2}:y0=0:x1=${width / 2}:y1=${height - 1}`;
  chains.push(
    `gradients=s=${width}x${height}:r=${FRAMES_PER_SECOND}:n=4:${colors}:${line}:speed=0.0025:seed=${plan.seed >>> 0}:d=${plan.seconds},scale=${plan.width}:${plan.height}:flags=bicubic:out_color_matrix=bt709:out_range=tv,format=yuv420p[sky]`,
  );
  let top = 'sky';
  for (const placed of plan.landscape) top = tools.lay(top, placed);
  return top;
}

function fillFrame({ width, height, seconds }: Pick<Plan, 'width' | 'height' | 'seconds'>): string {
  const scaled = `scale=${width}:${height}:force_original_aspect_ratio=increase:out_color_matrix=bt709:out_range=tv`;
  return `fps=${FRAMES_PER_SECOND},${scaled},crop=${width}:${height},setsar=1,trim=duration=${seconds},setpts=PTS-STARTPTS,format=yuv420p`;
}

/** Moves the colours of a clip towards those of the scene. */
function gradeColors({ sky, accent }: Scene): string {
  const shift = (color: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
    const mean = (red + green + blue) / 3;
    return [red, green, blue].map((value) => (((value - mean) / 255) * 0.6).toFixed(3));
  };
  const [[rs, gs, bs], [rh, gh, bh]] = [shift(sky[1]), shift(accent)];
  return `colorbalance=rs=${rs}:gs=${gs}:bs=${bs}:rh=${rh}:gh=${gh}:bh=${bh},eq=contrast=1.05:saturation=1.1,format=yuv420p`;
}

function layClip(
  below: string,
  clip: PlacedClip,
  plan: Plan,
  { open, chains }: Pick<Tools, 'open' | 'chains'>,
): string {
  const index = open(['-stream_loop', '-1', ...clip.input]);
  const size = { width: clip.width, height: clip.height, seconds: plan.seconds };
  chains.push(`[${index}:v:0]${fillFrame(size)}[c${index}]`);
  chains.push(`[${below}][c${index}]overlay=x='${clip.x}':y='${clip.y}':format=yuv420[o${index}]`);
  return `o${index}`;
}

function buildSound({ sound, scene, seconds, seed }: Plan, open: Tools['open']): string[] {
  if (sound === undefined || sound === 'ambience') return buildAmbience(scene, seconds, seed);
  return [buildRecording(`[${open(['-stream_loop', '-1', ...sound.input])}:a:0]`, seconds)];
}

function layWaves(below: string, plan: Plan, chains: string[]): string {
  const height = Math.round(plan.height / 16) * 2;
  const last = chains.pop() ?? '';
  chains.push(last.replace(/\[audio\]$/, ',asplit=2[audio][heard]'));
  chains.push(
    `[heard]showwaves=s=${plan.width}x${height}:mode=cline:r=${FRAMES_PER_SECOND}:scale=sqrt:colors=0x${plan.scene.accent.slice(1)}[wave]`,
  );
  chains.push(`[${below}][wave]overlay=x=0:y=H-h:format=yuv420:eof_action=pass[waved]`);
  return 'waved';
}
