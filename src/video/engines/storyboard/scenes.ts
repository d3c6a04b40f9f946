export type LayerKind = 'hills' | 'peaks' | 'waves' | 'trees' | 'towers' | 'flames' | 'flowers' | 'orbs';
export type ParticleKind = 'stars' | 'snow' | 'embers' | 'rain' | 'petals' | 'bubbles' | 'dust';
export type NoiseKind = 'white' | 'pink' | 'brown';

/** Colours are `#rrggbb`. */
export type Scene = {
  name: string;
  /** top to bottom */
  sky: [string, string, string, string];
  far: { kind: LayerKind; color: string };
  near: { kind: LayerKind; color: string };
  light?: { kind: 'sun' | 'moon' | 'planet'; color: string };
  particles: ParticleKind;
  /** of the caption and of glowing things */
  accent: string;
  /** background noise: its colour, highest frequency in Hz, loudness from 0 to 1, waves per second */
  air: { noise: NoiseKind; cutoff: number; level: number; swell: number };
};

type Entry = { scene: Scene; words: string };

const ENTRIES: readonly Entry[] = [
  {
    words: 'ocean sea wave beach water underwater fish whale dolphin coral surf ship boat sail lake river shark island',
    scene: {
      name: 'ocean',
      sky: ['#0b2545', '#13639a', '#4fb3bf', '#ffd9a0'],
      far: { kind: 'waves', color: '#1b6f94' },
      near: { kind: 'waves', color: '#0a2f4f' },
      light: { kind: 'sun', color: '#fff1c9' },
      particles: 'bubbles',
      accent: '#5fe0d8',
      air: { noise: 'brown', cutoff: 900, level: 0.5, swell: 0.16 },
    },
  },
  {
    words: 'forest tree jungle wood leaf leaves grass meadow nature garden deer bear park moss fern pine',
    scene: {
      name: 'forest',
      sky: ['#1d4a4f', '#3f8a6d', '#9ccb86', '#f3eec0'],
      far: { kind: 'trees', color: '#3c7a5a' },
      near: { kind: 'trees', color: '#0e2f24' },
      light: { kind: 'sun', color: '#fff6cf' },
      particles: 'dust',
      accent: '#b9e769',
      air: { noise: 'pink', cutoff: 1800, level: 0.16, swell: 0.2 },
    },
  },
  {
    words: 'fire flame lava volcano burn burning explosion dragon candle ember inferno hell phoenix',
    scene: {
      name: 'fire',
      sky: ['#16060a', '#4b0f14', '#b5301a', '#ff9a3c'],
      far: { kind: 'peaks', color: '#5a1713' },
      near: { kind: 'flames', color: '#ff7a1f' },
      particles: 'embers',
      accent: '#ffc14d',
      air: { noise: 'brown', cutoff: 2400, level: 0.4, swell: 2.2 },
    },
  },
  {
    words:
      'space galaxy planet cosmos cosmic rocket astronaut nebula mars alien universe orbit spaceship satellite comet',
    scene: {
      name: 'space',
      sky: ['#05060f', '#141033', '#3b1f62', '#7b3f8c'],
      far: { kind: 'hills', color: '#2c1a4d' },
      near: { kind: 'peaks', color: '#0b0717' },
      light: { kind: 'planet', color: '#f0b28a' },
      particles: 'stars',
      accent: '#b794ff',
      air: { noise: 'brown', cutoff: 240, level: 0.5, swell: 0.1 },
    },
  },
  {
    words: 'night star moon midnight dark dream sleep owl bat constellation',
    scene: {
      name: 'night',
      sky: ['#050b1f', '#0f2147', '#2a4a7f', '#7d8fb8'],
      far: { kind: 'hills', color: '#1b305a' },
      near: { kind: 'trees', color: '#060d1c' },
      light: { kind: 'moon', color: '#f4f3e6' },
      particles: 'stars',
      accent: '#9fc2ff',
      air: { noise: 'pink', cutoff: 700, level: 0.14, swell: 0.15 },
    },
  },
  {
    words: 'city street building neon cyberpunk tokyo york london urban car traffic skyline tower robot office future',
    scene: {
      name: 'city',
      sky: ['#120c2c', '#3a1a5e', '#a2377f', '#ff8f70'],
      far: { kind: 'towers', color: '#3d2460' },
      near: { kind: 'towers', color: '#120a26' },
      light: { kind: 'moon', color: '#ffd7ef' },
      particles: 'dust',
      accent: '#38f2e3',
      air: { noise: 'brown', cutoff: 500, level: 0.35, swell: 0.3 },
    },
  },
  {
    words: 'snow winter ice frost arctic glacier christmas penguin polar blizzard ski frozen',
    scene: {
      name: 'snow',
      sky: ['#5d86b5', '#94b9da', '#cfe2f0', '#f8fbff'],
      far: { kind: 'peaks', color: '#a9c4dc' },
      near: { kind: 'trees', color: '#4d6d8a' },
      light: { kind: 'sun', color: '#ffffff' },
      particles: 'snow',
      accent: '#ffffff',
      air: { noise: 'pink', cutoff: 1100, level: 0.22, swell: 0.18 },
    },
  },
  {
    words: 'storm rain thunder lightning cloud fog mist wind tornado hurricane umbrella wet grey gray',
    scene: {
      name: 'storm',
      sky: ['#1c2430', '#364454', '#5f7183', '#9aa7b0'],
      far: { kind: 'hills', color: '#3c4a58' },
      near: { kind: 'hills', color: '#161d26' },
      particles: 'rain',
      accent: '#cfe6ff',
      air: { noise: 'white', cutoff: 3800, level: 0.12, swell: 0.25 },
    },
  },
  {
    words: 'mountain hill valley alps peak canyon cliff climb hike eagle summit rock',
    scene: {
      name: 'mountain',
      sky: ['#27437a', '#6d8fc4', '#c3d3e6', '#ffe9cf'],
      far: { kind: 'peaks', color: '#7488b0' },
      near: { kind: 'peaks', color: '#26324f' },
      light: { kind: 'sun', color: '#fff4dc' },
      particles: 'dust',
      accent: '#ffd08a',
      air: { noise: 'pink', cutoff: 900, level: 0.2, swell: 0.14 },
    },
  },
  {
    words: 'flower blossom spring cherry love rose wedding butterfly tulip sakura romance heart pink bee bloom',
    scene: {
      name: 'flower',
      sky: ['#7a5ba8', '#d487b8', '#f9bfc9', '#fff0e0'],
      far: { kind: 'hills', color: '#b97fae' },
      near: { kind: 'flowers', color: '#3f6b4a' },
      light: { kind: 'sun', color: '#fff7e8' },
      particles: 'petals',
      accent: '#ff8fb6',
      air: { noise: 'pink', cutoff: 1600, level: 0.1, swell: 0.2 },
    },
  },
  {
    words:
      'sunset sunrise dawn dusk golden desert dune sand autumn savanna camel lion africa warm cowboy egypt pyramid',
    scene: {
      name: 'sunset',
      sky: ['#3b1c5a', '#a33b5e', '#f27a4b', '#ffd479'],
      far: { kind: 'hills', color: '#a8483f' },
      near: { kind: 'hills', color: '#3a1526' },
      light: { kind: 'sun', color: '#ffe9a8' },
      particles: 'dust',
      accent: '#ffb648',
      air: { noise: 'pink', cutoff: 700, level: 0.18, swell: 0.12 },
    },
  },
];

const ABSTRACT: readonly Scene['sky'][] = [
  ['#14213d', '#3a4f9f', '#8a6fd1', '#f2b5d4'],
  ['#0b3c49', '#13747d', '#4fc1a6', '#f6f1a9'],
  ['#331832', '#8f2d56', '#d81159', '#ffbc42'],
  ['#1a1a40', '#4b2c83', '#c44536', '#ffd166'],
];

const COLORS: Readonly<Record<string, string>> = {
  red: '#e5383b',
  orange: '#ff8c1a',
  yellow: '#ffd60a',
  green: '#38b000',
  blue: '#2176ff',
  purple: '#8338ec',
  violet: '#8338ec',
  pink: '#ff6fb1',
  white: '#ffffff',
  black: '#101014',
  brown: '#8a5a3b',
  gold: '#ffc93c',
  silver: '#cfd6de',
  turquoise: '#2ec4b6',
};

/**
 * Chooses the scene by the words of a prompt: the one named most often, else an abstract one. Named colours tint it.
 */
export function decideScene(prompt: string, seed: number): Scene {
  const words = (prompt.toLowerCase().match(/\p{L}+/gu) ?? []).flatMap((word) => [word, word.replace(/s$/, '')]);
  const said = new Map<string, number>();
  for (const word of words) said.set(word, (said.get(word) ?? 0) + 1);
  const score = (entry: Entry) => entry.words.split(' ').reduce((sum, word) => sum + (said.get(word) ?? 0), 0);
  const [best] = ENTRIES.map((entry) => ({ entry, points: score(entry) })).toSorted((a, b) => b.points - a.points);
  const scene = best === undefined || best.points === 0 ? buildAbstract(seed) : best.entry.scene;
  const color = Object.keys(COLORS).find((name) => said.has(name));
  return color === undefined ? scene : tintScene(scene, COLORS[color] ?? scene.accent);
}

function buildAbstract(seed: number): Scene {
  const sky = ABSTRACT[seed % ABSTRACT.length] ?? ['#14213d', '#3a4f9f', '#8a6fd1', '#f2b5d4'];
  return {
    name: 'abstract',
    sky,
    far: { kind: 'orbs', color: sky[2] },
    near: { kind: 'hills', color: mixColors(sky[0], '#000000', 0.25) },
    particles: 'dust',
    accent: sky[3],
    air: { noise: 'pink', cutoff: 600, level: 0.12, swell: 0.2 },
  };
}

function tintScene(scene: Scene, color: string): Scene {
  const [top, high, low, bottom] = scene.sky;
  const tint = (from: string, part: number) => mixColors(from, color, part);
  return {
    ...scene,
    sky: [tint(top, 0.25), tint(high, 0.5), tint(low, 0.6), tint(bottom, 0.35)],
    far: { ...scene.far, color: tint(scene.far.color, 0.4) },
    near: { ...scene.near, color: tint(scene.near.color, 0.15) },
    accent: color,
  };
}

/** Mixes `part` of the second colour into the first. */
export function mixColors(first: string, second: string, part: number): string {
  const channels = [1, 3, 5].map((at) => {
    const [a, b] = [first, second].map((color) => Number.parseInt(color.slice(at, at + 2), 16));
    return Math.round((a ?? 0) * (1 - part) + (b ?? 0) * part);
  });
  return `#${channels.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
