import { buildRandom } from '../../../platform/random.ts';
import type { Scene } from './scenes.ts';

/** Steps of a pentatonic scale, any of which sound well together. */
const STEPS = [1, 9 / 8, 5 / 4, 3 / 2, 5 / 3];
const RATE = 48_000;

/** The filter chains for a quiet chord and background noise, ending in the pad `[audio]`. */
export function buildAmbience(scene: Scene, seconds: number, seed: number): string[] {
  const random = buildRandom(seed ^ 0x50_1d);
  const root = 110 * (STEPS[Math.floor(random() * STEPS.length)] ?? 1);
  const third = STEPS[1 + Math.floor(random() * 2)] ?? 1.25;
  const tones = [root, root * third, root * 1.5, root * 2].map((tone) => tone.toFixed(3));
  const { noise, cutoff, level, swell } = scene.air;
  const tail = Math.min(0.6, seconds / 4);
  return [
    ...tones.map((tone, index) => `sine=f=${tone}:r=${RATE}:d=${seconds}[tone${index}]`),
    `${tones.map((_, index) => `[tone${index}]`).join('')}amix=inputs=${tones.length}:normalize=0,volume=0.35,tremolo=f=0.25:d=0.5,lowpass=f=900[chord]`,
    `anoisesrc=c=${noise}:r=${RATE}:a=${level}:d=${seconds}:seed=${seed >>> 0},lowpass=f=${cutoff},tremolo=f=${Math.max(0.1, swell)}:d=0.6[air]`,
    `[chord][air]amix=inputs=2:normalize=0,afade=t=in:d=${tail},afade=t=out:st=${seconds - tail}:d=${tail},${STEREO}[audio]`,
  ];
}

/** The filter chain that cuts or loops a recording to the video's length and fades it out. */
export function buildRecording(pad: string, seconds: number): string {
  const tail = Math.min(0.4, seconds / 4);
  return `${pad}aresample=${RATE},atrim=0:${seconds},asetpts=PTS-STARTPTS,apad=whole_dur=${seconds},afade=t=out:st=${seconds - tail}:d=${tail},${STEREO}[audio]`;
}

const STEREO = `aformat=sample_fmts=fltp:sample_rates=${RATE}:channel_layouts=stereo`;
